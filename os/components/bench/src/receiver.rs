//! Notes how long after a message was sent the job begins that it releases, and how long after that the job was released.
#![no_std]
#![no_main]

use tactus_bench_book::{Book, Series};
use tactus_rt::channel::Receiver;
use tactus_rt::clock::{instant, time_stamp};
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();
static MESSAGES: Receiver = Receiver::new();

fn note(job: &Job) {
    let now = time_stamp();
    if job.number() == 0 && MESSAGES.open("messages").is_err() {
        panic!("there is no channel");
    }
    let Ok(Some([sent, ..])) = MESSAGES.receive() else { panic!("no message came") };
    BOOK.write(Series::Received, job.number() << 32 | (now - sent));
    BOOK.write(Series::Accepted, job.number() << 32 | job.release().since(instant(sent)).as_nanos());
}
