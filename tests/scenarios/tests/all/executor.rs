//! Asynchronous functions inside a task: its jobs go on with what can go on, and to the scheduler there is the task alone.

use tactus_scenarios::{Finished, Scratch};

#[test]
fn functions_of_a_task_wait_for_time_and_messages_and_its_jobs_keep_their_bound() {
    let folder = Scratch::new("executor");
    // Two functions hand a count to and fro within a job; one waits for time; one for messages of another component.
    let clerk = "#![no_std]\n#![no_main]\nuse core::sync::atomic::{AtomicU64, Ordering};\n\
        use core::future::poll_fn;\nuse core::task::Poll;\n\
        use tactus_rt::channel::Receiver;\nuse tactus_rt::executor::Executor;\nuse tactus_rt::time::Instant;\n\
        static EXECUTOR: Executor = Executor::new();\nstatic ORDERS: Receiver = Receiver::new();\n\
        static TICKS: AtomicU64 = AtomicU64::new(0);\nstatic SUM: AtomicU64 = AtomicU64::new(0);\n\
        static TURNS: AtomicU64 = AtomicU64::new(0);\n\
        #[embassy_executor::task]\nasync fn tick() {\n    for n in 1..=9 {\n\
            EXECUTOR.until(Instant::from_nanos(n * 25_000_000)).await;\n\
            let late = tactus_rt::now().as_nanos() - n * 25_000_000;\n\
            assert!(late < 11_000_000, \"{late} ns late\");\n        TICKS.store(n, Ordering::Relaxed);\n    }\n}\n\
        #[embassy_executor::task]\nasync fn take() {\n    loop {\n\
            let Ok([order, ..]) = EXECUTOR.receive(&ORDERS).await else { panic!(\"no orders\") };\n\
            SUM.fetch_add(order, Ordering::Relaxed);\n    }\n}\n\
        #[embassy_executor::task(pool_size = 2)]\nasync fn turn(odd: u64) {\n    while TURNS.load(Ordering::Relaxed) < 1000 {\n\
            poll_fn(|context| match TURNS.load(Ordering::Relaxed) % 2 == odd {\n\
                true => Poll::Ready(()),\n                false => { context.waker().wake_by_ref(); Poll::Pending }\n            }).await;\n\
            TURNS.fetch_add(1, Ordering::Relaxed);\n    }\n}\n\
        tactus_rt::component! { job: work, services: [] }\n\
        fn work(job: &tactus_rt::Job) {\n    EXECUTOR.run(|spawner| {\n\
            ORDERS.open(\"orders\").expect(\"a channel\");\n        spawner.must_spawn(tick());\n        spawner.must_spawn(take());\n\
            spawner.must_spawn(turn(0));\n        spawner.must_spawn(turn(1));\n    });\n\
            assert!(TURNS.load(Ordering::Relaxed) >= 1000, \"all turns are the first job's\");\n\
            if job.number() == 24 {\n        let (ticks, sum) = (TICKS.load(Ordering::Relaxed), SUM.load(Ordering::Relaxed));\n\
                assert_eq!((ticks, sum), (9, 190));\n    }\n}\n";
    let sender = "#![no_std]\n#![no_main]\nuse tactus_rt::channel::Sender;\nstatic ORDERS: Sender = Sender::new();\n\
        tactus_rt::component! { job: work, services: [] }\n\
        fn work(job: &tactus_rt::Job) {\n    if job.number() == 0 {\n        ORDERS.open(\"orders\").expect(\"a channel\");\n    }\n\
            if job.number() < 20 {\n        ORDERS.send(&[job.number(); 8]).expect(\"room\");\n    }\n}\n";
    folder.component("clerk", "main.rs", clerk);
    folder.component("sender", "main.rs", sender);
    let manifest = std::fs::read_to_string(folder.path().join("clerk/Cargo.toml")).expect("the manifest");
    let dependency = "os/rt\", features = [\"executor\"] }\nembassy-executor = { version = \"0.7\", features = [\"task-arena-size-4096\"]";
    folder.write("clerk/Cargo.toml", &manifest.replace("os/rt\"", dependency));
    let services = tactus_scenarios::file("os/components/services").display().to_string();
    let text = format!(
        "[system]\nname = \"executor\"\ncores = 2\nduration = \"260 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n\n\
         [[component]]\nname = \"memory\"\ncrate = {services:?}\nmemory-manager = true\nprovides = [\"attach\"]\n\n\
         [[component]]\nname = \"clerk\"\ncrate = \"clerk\"\nuses = {{ attach = \"memory.attach\" }}\n\n\
         [[component]]\nname = \"sender\"\ncrate = \"sender\"\nuses = {{ attach = \"memory.attach\" }}\n\n\
         [[buffer]]\nname = \"orders\"\nsize = \"4 KiB\"\nbetween = [\"sender\", \"clerk\"]\n\n\
         [[task]]\nname = \"clerk\"\ncomponent = \"clerk\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n\n\
         [[task]]\nname = \"sender\"\ncomponent = \"sender\"\ncore = 1\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n"
    );
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    assert_eq!((run.summary.outcome(), run.summary.stopped()), ("held", vec![]), "{}", run.said.output);
    assert_eq!(run.summary.task("clerk").completed(), 26);
}
