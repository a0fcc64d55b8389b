/*
 * A plug-in of the emulator that follows a Linux kernel from outside: it counts each core's own instructions and looks at
 * the count whenever the core comes to one of the addresses that it was given. Nothing is added to the kernel, and what
 * other cores execute meanwhile is not counted.
 *
 * Arguments: out=FILE and the address of each point by its name. The file gets a line for each sample: what, the count, and,
 * for a release, how many threads were woken; and a line "run" where a run begins.
 *
 * The interface is declared here, as far as it is used: Debian does not package the emulator's header.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block;
struct instruction;
typedef void (*executed)(unsigned core, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*translated)(uint64_t, struct block *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct block *, executed, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct instruction *, executed, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct instruction *, int add, void *to, uint64_t number);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*ended)(uint64_t, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct block *);
struct instruction *qemu_plugin_tb_get_insn(const struct block *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct instruction *);
__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum point {
    TIMER,      /* first instruction of the timer's interrupt */
    EVENT,      /* first instruction of any other interrupt from a core or device */
    EXPIRE,     /* the handler of timers begins */
    WAKE,       /* a timer wakes a thread */
    LEAVE,      /* the interrupt is handled */
    SCHEDULE,   /* the scheduler begins to choose */
    SWITCH,     /* it has chosen another thread */
    IDLE,       /* the core is about to sleep */
    JOB_BEGINS, /* first instruction of a job */
    JOB_ENDS,   /* the system call at its end */
    RUN_BEGINS,
    RUN_ENDS,
    POINTS
};
static const char *const NAMES[POINTS] = {"timer", "event",  "expire",     "wake",     "leave",      "schedule",
                                          "switch", "idle", "job_begins", "job_ends", "run_begins", "run_ends"};

#define MOST_ADDRESSES 64
#define MOST_CORES 16
static struct {
    uint64_t address;
    enum point point;
} watched[MOST_ADDRESSES];
static int watched_count;

/* Everything executed, whoever did; which core it was is told at the begin of each block. */
static uint64_t executed_in_all, counted;
static unsigned running;
static bool measuring;
static FILE *out;

static struct core {
    uint64_t own;
    bool idle, in_timer, job_ended;
    int woken, switches;
    /* Counts at the last time that each happened; 0 if it is over or something came in between. */
    uint64_t timer, expire, schedule, switched, ended, woke_up, called;
} cores[MOST_CORES];

static void turn(unsigned core, void *unused) {
    (void)unused;
    if (core == running) return;
    cores[running % MOST_CORES].own += executed_in_all - counted;
    counted = executed_in_all;
    running = core;
}

static void sample(const char *what, uint64_t from, uint64_t to, int number) {
    if (measuring && from != 0) fprintf(out, "%s %lu %d\n", what, to - from, number);
}

static void at(unsigned number, void *data) {
    struct core *core = &cores[number % MOST_CORES];
    turn(number, NULL);
    uint64_t now = core->own + (executed_in_all - counted);
    switch ((enum point)(uintptr_t)data) {
    case TIMER:
    case EVENT: {
        bool timer = (uintptr_t)data == TIMER;
        core->in_timer = timer;
        core->timer = timer ? now : 0;
        core->woke_up = timer && core->idle ? now : 0;
        core->called = !timer && core->idle ? now : 0;
        core->expire = core->switched = core->ended = core->schedule = 0;
        core->woken = core->switches = 0;
        break;
    }
    case EXPIRE:
        if (core->in_timer) sample("entry", core->timer, now, 0);
        core->expire = core->in_timer ? now : 0;
        break;
    case WAKE:
        core->woken++;
        break;
    case LEAVE:
        if (core->in_timer) sample(core->woken > 0 ? "release" : "tick", core->expire, now, core->woken);
        core->in_timer = false;
        break;
    case SCHEDULE:
        core->schedule = now;
        break;
    case SWITCH:
        sample(core->job_ended ? "scheduling" : "choosing", core->schedule, now, 0);
        if (core->woken > 0 && core->switches == 0) sample("release-choosing", core->expire, now, core->woken);
        core->switched = now;
        core->schedule = 0;
        core->switches++;
        core->idle = core->job_ended = false;
        break;
    case IDLE:
        core->idle = true;
        core->ended = core->woke_up = core->called = core->switched = 0;
        break;
    case JOB_BEGINS:
        sample("switch", core->switched, now, 0);
        if (core->switches == 1) {
            sample("next-job", core->ended, now, 0);
            sample("wake-up", core->woke_up, now, core->woken);
            sample("called", core->called, now, 0);
        }
        core->switched = core->ended = core->woke_up = core->called = 0;
        break;
    case JOB_ENDS:
        core->ended = now;
        core->switched = core->expire = core->woke_up = core->called = 0;
        core->switches = core->woken = 0;
        core->job_ended = true;
        break;
    case RUN_BEGINS:
        measuring = true;
        fputs("run\n", out);
        break;
    case RUN_ENDS:
        measuring = false;
        fflush(out);
        break;
    case POINTS:
        break;
    }
}

static void translated(uint64_t id, struct block *block) {
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(block);
    uint64_t first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
    /* The kernel, and the program at the bottom: what the firmware and the unpacking do is passed over. */
    if (first < 0xFFFF800000000000 && (first < 0x400000 || first >= 0x600000)) return;
    qemu_plugin_register_vcpu_tb_exec_cb(block, turn, 0, NULL);
    for (size_t i = 0; i < count; i++) {
        struct instruction *instruction = qemu_plugin_tb_get_insn(block, i);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        for (int which = 0; which < watched_count; which++)
            if (watched[which].address == address)
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, at, 0, (void *)(uintptr_t)watched[which].point);
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, 0, &executed_in_all, 1);
    }
}

static void ended(uint64_t id, void *unused) {
    (void)id, (void)unused;
    fclose(out);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int count, char **arguments) {
    (void)info;
    for (int i = 0; i < count; i++) {
        char *value = strchr(arguments[i], '=');
        if (!value) return -1;
        *value++ = 0;
        if (strcmp(arguments[i], "out") == 0) out = fopen(value, "w");
        for (int point = 0; point < POINTS; point++)
            if (strcmp(arguments[i], NAMES[point]) == 0 && watched_count < MOST_ADDRESSES) {
                watched[watched_count].address = strtoull(value, NULL, 16);
                watched[watched_count++].point = point;
            }
    }
    if (!out) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
