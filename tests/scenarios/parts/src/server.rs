//! A server: twice what is asked.
#![no_std]
#![no_main]

use tactus_rt::request::ServiceServer;
use tactus_rt::Job;

tactus_rt::component! { job: serve, services: [] }

static STORAGE: ServiceServer = ServiceServer::new("storage");

fn serve(job: &Job) {
    let mut request = [0; 8];
    while let Some((asked, length)) = STORAGE.next(job, &mut request) {
        assert_eq!(length, 8);
        // A client that leaves an answer where it is gets none.
        let _ = asked.answer(job, &(2 * u64::from_le_bytes(request)).to_le_bytes());
    }
}
