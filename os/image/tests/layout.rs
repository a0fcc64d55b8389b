//! What a built image holds.

mod common;

use common::{example, image};
use tactus_image::verify;

#[test]
fn an_image_passes_its_own_check() {
    let image = image(&example()).unwrap();
    if let Err(error) = verify(&image.bytes) {
        panic!("{error}");
    }
}
