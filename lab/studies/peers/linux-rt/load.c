/*
 * The first and only program of a Linux machine: periodic threads under SCHED_DEADLINE, as the overhead study draws them.
 *
 * If there is /names, it tells where these functions of the kernel are, and ends. Else it reads /set: the spread, the number
 * of cores and the length of each run (ns); then for each run the number of tasks, and for each of them its core or -1, its
 * period and its execution time (ns). All jobs of a run are released from one instant on. The emulator
 * follows the labels job_begins, job_ends, run_begins and run_ends (watch.c); the program itself measures nothing but how many
 * jobs ended a period after their release or later.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_TASKS 400
/* What a reservation has beside the execution time: the kernel's own work is charged to it. */
#define ALLOWANCE 100000

/* As the kernel defines it; the C library does not. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};
#define DEADLINE_POLICY 6

struct task {
    int core;
    uint64_t period, execution;
    long jobs, late;
    pthread_t thread;
};

static struct task tasks[MOST_TASKS];
static volatile uint64_t epoch, end;
static volatile int ready;
static int cluster;

static void finish(const char *words) {
    puts(words);
    fflush(stdout);
    sleep(1);
    reboot(RB_AUTOBOOT);
}

static void fail(const char *what) {
    char words[256];
    snprintf(words, sizeof words, "FAILED: %s: %m", what);
    finish(words);
}

static void put(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
    close(file);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The job before ends at the system call, the next one begins behind it. */
extern char job_begins[], job_ends[];
__attribute__((noinline, noclone)) static void sleep_until(uint64_t at) {
    struct timespec t = {at / 1000000000, at % 1000000000};
    register const struct timespec *when asm("rdx") = &t;
    register void *left asm("r10") = NULL;
    long result = SYS_clock_nanosleep;
    asm volatile(".globl job_ends, job_begins\njob_ends: syscall\njob_begins: nop"
                 : "+a"(result)
                 : "D"(CLOCK_MONOTONIC), "S"(TIMER_ABSTIME), "r"(when), "r"(left)
                 : "rcx", "r11", "memory");
}

static uint64_t stamp(void) {
    uint32_t low, high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/*
 * Has the core for about so long (ns; the counter counts them). Not for so many instructions: where emulated cores take
 * turns, that takes as many times longer as there are busy cores. A longer gap between two looks at the clock than turns
 * make is a preemption, which does not count. The pause ends the turn.
 */
#define LONGEST_GAP 40000
static void burn(uint64_t time) {
    uint64_t last = stamp();
    for (uint64_t had = 0; had < time;) {
        uint64_t steps = 100;
        asm volatile("1: dec %0\njnz 1b\npause" : "+r"(steps));
        uint64_t look = stamp(), gap = look - last;
        had += gap < LONGEST_GAP ? gap : LONGEST_GAP;
        last = look;
    }
}

/* Marks for the emulator: what is between them is measured. */
__attribute__((noinline, noclone)) void run_begins(void) { asm volatile("nop"); }
__attribute__((noinline, noclone)) void run_ends(void) { asm volatile("nop"); }

static void *run(void *argument) {
    struct task *task = argument;
    if (task->core >= 0) {
        char path[64], id[32];
        snprintf(path, sizeof path, "/cpuset/%d/tasks", task->core / cluster);
        snprintf(id, sizeof id, "%ld", syscall(SYS_gettid));
        put(path, id);
    }
    uint64_t budget = task->execution + task->execution / 4 + ALLOWANCE;
    if (budget > task->period) budget = task->period;
    struct attributes attributes = {
        .size = sizeof attributes,
        .policy = DEADLINE_POLICY,
        .runtime = budget,
        .deadline = task->period,
        .period = task->period,
    };
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) fail("sched_setattr");
    __sync_fetch_and_add(&ready, 1);
    while (epoch == 0) usleep(2000);
    for (uint64_t at = epoch; at < end; at += task->period) {
        sleep_until(at);
        task->jobs++;
        burn(task->execution);
        task->late += now() > at + task->period;
    }
    return NULL;
}

/* Each set of cores is a scheduling domain of its own. */
static void divide(int cores) {
    mkdir("/cpuset", 0755);
    if (mount("none", "/cpuset", "cgroup", 0, "cpuset") != 0) fail("cpuset");
    put("/cpuset/cpuset.sched_load_balance", "0");
    for (int first = 0; first < cores; first += cluster) {
        char folder[64], path[128], range[32];
        snprintf(folder, sizeof folder, "/cpuset/%d", first / cluster);
        mkdir(folder, 0755);
        snprintf(range, sizeof range, "%d-%d", first, first + cluster - 1);
        snprintf(path, sizeof path, "%s/cpuset.cpus", folder);
        put(path, range);
        snprintf(path, sizeof path, "%s/cpuset.mems", folder);
        put(path, "0");
        snprintf(path, sizeof path, "%s/cpuset.cpu_exclusive", folder);
        put(path, "1");
    }
}

/*
 * Emulated cores take turns, which a turn's length would add to every latency. A turn ends when a timer of the machine
 * expires: the old interval timer at 100 kHz, whose interrupt nobody takes, keeps turns short.
 */
static void short_turns(void) {
    if (iopl(3) != 0) fail("iopl");
    outb(inb(0x21) | 1, 0x21);
    outb(0x34, 0x43);
    outb(12, 0x40);
    outb(0, 0x40);
}

static volatile bool starting = true;
static void *wait_busily(void *unused) {
    (void)unused;
    while (starting) {
        uint64_t steps = 40;
        asm volatile("1: dec %0\njnz 1b\npause" : "+r"(steps));
    }
    return NULL;
}

/* Starts all cores but the first. The kernel does not come to an end with it while the first one sleeps in between. */
static void start_cores(int cores) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_busily, NULL) != 0) fail("thread");
    for (int core = 1; core < cores; core++) {
        char path[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", core);
        put(path, "1");
    }
    starting = false;
    pthread_join(thread, NULL);
}

/* Prints where the kernel's functions are whose names stand in this file. */
static void tell_symbols(FILE *names) {
    char wanted[64][64];
    int count = 0;
    while (count < 64 && fscanf(names, "%63s", wanted[count]) == 1) count++;
    FILE *symbols = fopen("/proc/kallsyms", "r");
    char line[512], address[32], kind[8], name[256];
    while (symbols && fgets(line, sizeof line, symbols)) {
        if (strchr(line, '[') || sscanf(line, "%31s %7s %255s", address, kind, name) != 3) continue;
        for (int i = 0; i < count; i++)
            if (strcmp(name, wanted[i]) == 0) printf("%s %s %s\n", address, kind, name);
    }
}

static void run_set(int n, uint64_t duration) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    epoch = ready = 0;
    for (int i = 0; i < n; i++)
        if (pthread_create(&tasks[i].thread, &small, run, &tasks[i]) != 0) fail("thread");
    while (ready < n) usleep(5000);
    run_begins();
    uint64_t start = (now() / 1000000 + 20) * 1000000;
    end = start + duration;
    epoch = start;
    for (int i = 0; i < n; i++) pthread_join(tasks[i].thread, NULL);
    run_ends();
    long jobs = 0, late = 0;
    for (int i = 0; i < n; i++) {
        jobs += tasks[i].jobs;
        late += tasks[i].late;
    }
    printf("RESULT %d tasks, %ld jobs, %ld late\n", n, jobs, late);
}

int main(void) {
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    if (mount("none", "/proc", "proc", 0, NULL) != 0 || mount("none", "/sys", "sysfs", 0, NULL) != 0) fail("mount");
    FILE *names = fopen("/names", "r");
    if (names) {
        tell_symbols(names);
        finish("END");
    }
    FILE *set = fopen("/set", "r");
    char spread[32];
    int cores;
    uint64_t duration;
    if (!set || fscanf(set, "%31s %d %lu", spread, &cores, &duration) != 3) finish("FAILED: no set");
    short_turns();
    start_cores(cores);
    put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
    cluster = strcmp(spread, "clustered") == 0 ? 2 : 1;
    if (strcmp(spread, "global") != 0) divide(cores);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) fail("mlockall");
    for (int n; fscanf(set, "%d", &n) == 1 && n <= MOST_TASKS;) {
        memset(tasks, 0, sizeof tasks);
        for (int i = 0; i < n; i++)
            if (fscanf(set, "%d %lu %lu", &tasks[i].core, &tasks[i].period, &tasks[i].execution) != 3) finish("FAILED: a task");
        run_set(n, duration);
    }
    finish("END");
}
