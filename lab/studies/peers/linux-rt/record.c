// The only program of a machine with Linux: starts the threads of a system file, records who has which core when, and prints that.
// Each line of /set: name, core, priority, period, work (microseconds), and the number of a job that takes three times as long, or -1.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRACING "/tracing/"

struct task {
    char name[16];
    int core, priority, longer;
    long period, work;
    pthread_t thread;
};

static struct timespec begin;
static int marker, jobs = 40;

static long now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *run(void *argument) {
    struct task *task = argument;
    prctl(PR_SET_NAME, task->name);
    struct timespec next = begin;
    for (int job = 0; job < jobs; job++) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        if (write(marker, "job begins", 10) != 10)
            return NULL;
        long work = task->work * 1000 * (job == task->longer ? 3 : 1);
        for (long until = now(CLOCK_THREAD_CPUTIME_ID) + work; now(CLOCK_THREAD_CPUTIME_ID) < until;)
            ;
        next.tv_nsec += task->period * 1000;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
    }
    return NULL;
}

static void put(const char *file, const char *text) {
    int f = open(file, O_WRONLY);
    if (f < 0 || write(f, text, strlen(text)) < 0)
        printf("cannot write %s\n", file);
    close(f);
}

int main(void) {
    mkdir("/tracing", 0755);
    mount("none", "/tracing", "tracefs", 0, "");
    mkdir("/proc", 0755);
    mount("none", "/proc", "proc", 0, "");
    put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
    put(TRACING "trace_clock", "mono");
    put(TRACING "buffer_size_kb", "4096");
    put(TRACING "events/sched/sched_switch/enable", "1");
    put(TRACING "events/sched/sched_waking/enable", "1");
    marker = open(TRACING "trace_marker", O_WRONLY);
    static struct task tasks[16];
    int count = 0;
    FILE *set = fopen("/set", "r");
    while (set && count < 16) {
        struct task *t = &tasks[count];
        if (fscanf(set, "%15s %d %d %ld %ld %d", t->name, &t->core, &t->priority, &t->period, &t->work, &t->longer) != 6)
            break;
        count++;
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    begin.tv_sec += 1;
    for (int n = 0; n < count; n++) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(tasks[n].core, &cores);
        pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        struct sched_param p = {.sched_priority = tasks[n].priority};
        pthread_attr_setschedparam(&attributes, &p);
        if (pthread_create(&tasks[n].thread, &attributes, run, &tasks[n]))
            printf("cannot start %s\n", tasks[n].name);
    }
    for (int n = 0; n < count; n++)
        pthread_join(tasks[n].thread, NULL);
    put(TRACING "tracing_on", "0");
    printf("BEGIN\n");
    FILE *trace = fopen(TRACING "trace", "r");
    char line[512];
    while (trace && fgets(line, sizeof line, trace))
        fputs(line, stdout);
    printf("END\n");
    fflush(stdout);
    sleep(1);
    reboot(RB_AUTOBOOT);
    return 0;
}
