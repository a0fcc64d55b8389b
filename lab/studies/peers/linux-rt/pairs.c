/*
 * The first and only program of a Linux machine: what calls and switches cost between two threads or processes, in readings
 * of the time-stamp counter, which counts instructions there. All run under SCHED_FIFO on one core, memory locked; at the end one on
 * another core. Prints for each
 * path the least, the median, the 99th of 100 and the greatest of what was measured, less an empty pair of readings.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM 200
#define SAMPLES 4000
#define ALL (WARM + SAMPLES)
#define PRIORITY 50

static uint64_t empty;
/* Shared between processes. */
static struct shared {
    volatile uint64_t begin;
    volatile uint32_t ask, answer;
    uint64_t sample[ALL];
} *shared;

static inline uint64_t stamp(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static void finish(const char *words) {
    puts(words);
    fflush(stdout);
    sleep(1);
    reboot(RB_AUTOBOOT);
}

static void need(int good, const char *what) {
    if (good) return;
    char words[256];
    snprintf(words, sizeof words, "FAILED: %s: %m", what);
    finish(words);
}

static void urgent(int priority) {
    struct sched_param parameters = {.sched_priority = priority};
    need(sched_setscheduler(0, SCHED_FIFO, &parameters) == 0, "SCHED_FIFO");
}

static void pin(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    need(sched_setaffinity(0, sizeof one, &one) == 0, "one core");
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void tell(const char *name) {
    uint64_t *sample = shared->sample + WARM;
    qsort(sample, SAMPLES, sizeof *sample, ascending);
    uint64_t of[] = {sample[0], sample[SAMPLES / 2], sample[SAMPLES * 99 / 100], sample[SAMPLES - 1]};
    printf("RESULT,%s", name);
    for (int n = 0; n < 4; n++) printf(",%llu", (unsigned long long)(of[n] > empty ? of[n] - empty : 0));
    puts("");
}

static long futex(volatile uint32_t *word, int operation, uint32_t value) {
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* Waits while the word is `value`; `kind` is FUTEX_PRIVATE_FLAG between threads. */
static void await(volatile uint32_t *word, uint32_t value, int kind) {
    while (*word == value) futex(word, FUTEX_WAIT | kind, value);
}

/* From one thread's yield until the other one runs. */
static volatile int ready;
static void *yields(void *unused) {
    (void)unused;
    urgent(PRIORITY);
    ready = 1;
    for (int n = 0; n < ALL; n++) {
        shared->begin = stamp();
        sched_yield();
    }
    return NULL;
}

/* From the call that wakes a more urgent thread until that one runs. */
static void *woken(void *unused) {
    (void)unused;
    urgent(PRIORITY + 1);
    ready = 1;
    for (int n = 0; n < ALL; n++) {
        await(&shared->ask, n, FUTEX_PRIVATE_FLAG);
        shared->sample[n] = stamp() - shared->begin;
    }
    return NULL;
}

/* From the call that wakes a thread of the other core, which sleeps, until that one runs; the first core waits meanwhile. */
static void *woken_elsewhere(void *unused) {
    (void)unused;
    pin(1);
    urgent(PRIORITY);
    ready = 1;
    for (uint32_t n = 0; n < ALL; n++) {
        await(&shared->ask, n, FUTEX_PRIVATE_FLAG);
        shared->sample[n] = stamp() - shared->begin;
        shared->answer = n + 1;
        futex(&shared->answer, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
    }
    return NULL;
}

/* The second core begins only now: what is above is measured on a machine that has one. */
static void across_cores(const char *name) {
    mkdir("/sys", 0755);
    need(mount("sysfs", "/sys", "sysfs", 0, NULL) == 0, "/sys");
    int file = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
    need(file >= 0 && write(file, "1", 1) == 1, "a second core");
    close(file);
    pthread_t other;
    shared->ask = shared->answer = 0;
    need(pthread_create(&other, NULL, woken_elsewhere, NULL) == 0, "a thread");
    usleep(10000);
    for (uint32_t n = 0; n < ALL; n++) {
        shared->begin = stamp();
        shared->ask = n + 1;
        futex(&shared->ask, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
        await(&shared->answer, n, FUTEX_PRIVATE_FLAG);
    }
    pthread_join(other, NULL);
    tell(name);
}

static pthread_t begin(void *(*body)(void *)) {
    pthread_t thread;
    ready = 0;
    need(pthread_create(&thread, NULL, body, NULL) == 0, "a thread");
    while (!ready) sched_yield();
    return thread;
}

/* The same between processes. */
static void yields_of_processes(const char *name) {
    pid_t other = fork();
    need(other >= 0, "fork");
    if (other == 0) {
        for (;;) {
            shared->begin = stamp();
            sched_yield();
        }
    }
    for (int n = 0; n < ALL; n++) {
        sched_yield();
        shared->sample[n] = stamp() - shared->begin;
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    tell(name);
}

/* From the instant for which a thread sleeps until it runs; a nanosecond is an instruction. */
static void timers(const char *name) {
    struct timespec when, now;
    clock_gettime(CLOCK_MONOTONIC, &when);
    for (int n = 0; n < ALL; n++) {
        when.tv_nsec += 1000000;
        if (when.tv_nsec >= 1000000000) {
            when.tv_nsec -= 1000000000;
            when.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        shared->sample[n] = (now.tv_sec - when.tv_sec) * 1000000000ULL + now.tv_nsec - when.tv_nsec + empty;
    }
    tell(name);
}

/* A process that answers through pipes, a byte for a byte. */
static void through_pipes(const char *name, int priority) {
    int ask[2], answer[2];
    char byte = 0;
    need(pipe(ask) == 0 && pipe(answer) == 0, "pipes");
    pid_t server = fork();
    need(server >= 0, "fork");
    if (server == 0) {
        urgent(priority);
        for (;;) {
            if (read(ask[0], &byte, 1) != 1 || write(answer[1], &byte, 1) != 1) _exit(1);
        }
    }
    for (int n = 0; n < ALL; n++) {
        uint64_t from = stamp();
        need(write(ask[1], &byte, 1) == 1 && read(answer[0], &byte, 1) == 1, "a byte");
        shared->sample[n] = stamp() - from;
    }
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    tell(name);
}

/* A process, more urgent, that answers in shared memory. */
static void through_memory(const char *name) {
    shared->ask = shared->answer = 0;
    pid_t server = fork();
    need(server >= 0, "fork");
    if (server == 0) {
        urgent(PRIORITY + 1);
        for (uint32_t n = 0;; n++) {
            await(&shared->ask, n, 0);
            shared->answer = n + 1;
            futex(&shared->answer, FUTEX_WAKE, 1);
        }
    }
    sched_yield();
    for (uint32_t n = 0; n < ALL; n++) {
        uint64_t from = stamp();
        shared->ask = n + 1;
        futex(&shared->ask, FUTEX_WAKE, 1);
        await(&shared->answer, n, 0);
        shared->sample[n] = stamp() - from;
    }
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    tell(name);
}

int main(void) {
    pin(0);
    need(mlockall(MCL_CURRENT | MCL_FUTURE) == 0, "memory locked");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(shared != MAP_FAILED, "shared memory");
    urgent(PRIORITY);

    for (int n = 0; n < ALL; n++) {
        uint64_t from = stamp();
        shared->sample[n] = stamp() - from;
    }
    qsort(shared->sample + WARM, SAMPLES, sizeof(uint64_t), ascending);
    empty = shared->sample[WARM + SAMPLES / 2];

    for (int n = 0; n < ALL; n++) {
        uint64_t from = stamp();
        syscall(SYS_getppid);
        shared->sample[n] = stamp() - from;
    }
    tell("null call (getppid)");

    pthread_mutex_t lock;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    need(pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT) == 0 && pthread_mutex_init(&lock, &kind) == 0, "a lock");
    for (int n = 0; n < ALL; n++) {
        uint64_t from = stamp();
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        shared->sample[n] = stamp() - from;
    }
    tell("lock and release of a free lock with priority inheritance");

    pthread_t other = begin(yields);
    for (int n = 0; n < ALL; n++) {
        sched_yield();
        shared->sample[n] = stamp() - shared->begin;
    }
    tell("switch to another thread by yielding");
    pthread_join(other, NULL);

    shared->ask = 0;
    other = begin(woken);
    for (uint32_t n = 0; n < ALL; n++) {
        shared->begin = stamp();
        shared->ask = n + 1;
        futex(&shared->ask, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
    }
    pthread_join(other, NULL);
    tell("wake a more urgent thread until it runs (futex)");

    yields_of_processes("switch to another process by yielding");
    timers("timer expiry until the woken thread runs and has read the clock");
    through_memory("call and return between processes (futex and shared memory, server more urgent)");
    through_pipes("call and return between processes (pipes)", PRIORITY);
    through_pipes("call and return between processes (pipes, server more urgent)", PRIORITY + 1);
    across_cores("wake a thread of another core that sleeps until it runs (futex), both cores' instructions");
    finish("END");
}
