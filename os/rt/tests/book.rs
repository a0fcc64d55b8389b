//! What the book's pages show of this library: each line of theirs stands here, and compiles.

#![allow(dead_code)]

use core::fmt::Write;
use tactus_rt::channel::{ChannelError, Sender};
use tactus_rt::port::{PortError, SamplingDestination, SamplingSource};
use tactus_rt::time::Duration;
use tactus_rt::Job;

mod arrivals {
    use super::Job;

    fn set_up() {}
    fn take_the_sample() {}

    #[rustfmt::skip]
    fn sample(job: &Job) {
        // The first job comes at the start, to set the device up.
        if job.number() == 0 { set_up() } else { take_the_sample() }
        // Only now may the line interrupt again.
        job.acknowledge();
    }

    fn raise() {
        let raised = tactus_rt::grant("raise").call([0, 0, 0, 0, 0]);
        let _ = raised;
    }
}

mod waits {
    use super::{Duration, Job};

    fn start_the_converter() {}
    fn read_the_result() {}

    fn job(job: &Job) {
        start_the_converter();
        job.wait(Duration::from_millis(5));
        read_the_result();
    }
}

mod resources {
    use super::Job;

    fn prepare() {}
    fn use_the_bus() {}

    fn job(job: &Job) {
        prepare();
        job.hold(0, use_the_bus);
    }
}

mod channels {
    use super::{PortError, SamplingDestination, SamplingSource};

    fn use_it(_: &[u8], _: bool) {}

    fn ports(mut bytes: [u8; 64]) -> Result<(), PortError> {
        SamplingSource::open("attitude")?.write(&bytes)?;
        let attitude = SamplingDestination::open("attitude")?;
        if let Some(sample) = attitude.read(&mut bytes)? {
            use_it(&bytes[..sample.length], sample.valid);
        }
        Ok(())
    }
}

mod services {
    use super::{ChannelError, Sender};

    fn buffer() -> Result<u64, ChannelError> {
        let (address, pages) = tactus_rt::channel::attach("frames")?;
        Ok(address + pages)
    }

    #[rustfmt::skip]
    fn channel() -> Result<(), ChannelError> {
        static ORDERS: Sender = Sender::new();
        ORDERS.open("orders")?;
        match ORDERS.send(&[1, 2, 3, 4, 5, 6, 7, 8]) {
            Ok(true) => ORDERS.wake()?,            // it was empty: the receiver wants to know
            Ok(false) => {}
            Err(ChannelError::Full) => { /* later, or never: for the sender to say */ }
            Err(error) => panic!("{error:?}"),
        }
        Ok(())
    }
}

mod components {
    use super::Write;

    fn print(position: i64) {
        let _ = writeln!(tactus_rt::Console, "the cart is at {position} µm");
    }
}

/// The lines of the blocks of Rust on a page, comments aside.
fn lines(page: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in page.lines().map(str::trim) {
        match line.strip_prefix("```") {
            Some(language) => inside = language.starts_with("rust"),
            None if inside && !line.is_empty() && !line.starts_with("//") => lines.push(line),
            None => {}
        }
    }
    lines
}

#[test]
fn what_the_book_shows_of_the_library_compiles() {
    let here: Vec<&str> = include_str!("book.rs").lines().map(str::trim).collect();
    let pages = [
        ("channels", include_str!("../../../docs/channels.md")),
        ("arrivals", include_str!("../../../docs/arrivals.md")),
        ("resources", include_str!("../../../docs/resources.md")),
        ("services", include_str!("../../../docs/services.md")),
        ("waits", include_str!("../../../docs/waits.md")),
    ];
    let mut count = 0;
    for (name, page) in pages {
        for line in lines(page) {
            count += 1;
            assert!(here.contains(&line), "docs/{name}.md shows a line that no test compiles: {line}");
        }
    }
    assert!(count > 15, "the pages are read: {count}");
    // The page on components has its example's own test; this line of it stands alone.
    let page = include_str!("../../../docs/components.md");
    let print = here.iter().find(|line| line.contains("the cart is at {position}")).expect("it stands above");
    assert!(page.contains(print), "{print}");
}
