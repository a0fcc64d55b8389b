// Answers of SchedCAT's C++ core for sets on standard input, or how long each of its tests takes.
//
// A line is `m n c t d c t d ...`. The answer has a digit for each test of global EDF, in the order of `Test::ALL` of this crate:
// GFB LOAD BAK FF-DBF BCL BCL-iterative RTA BAR. Arguments:
//
//     time   mean processor time of each test in place of answers; the least of up to five calls of each counts
//     load   one digit: LOAD with the load found to 1/1000 in place of SchedCAT's usual 1/10
//     qpa    one digit: QPA on one processor
//
// Built by schedcat.sh against a copy of SchedCAT (github.com/brandenburg/schedcat).

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <unistd.h>
#include <vector>

#include "tasks.h"
#include "schedulability.h"
#include "edf/baker.h"
#include "edf/baruah.h"
#include "edf/bcl.h"
#include "edf/bcl_iterative.h"
#include "edf/ffdbf.h"
#include "edf/gfb.h"
#include "edf/load.h"
#include "edf/qpa.h"
#include "edf/rta.h"

static double seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static const char *const NAMES[] = {"GFB", "LOAD", "BAK", "FF-DBF", "BCL", "BCL-iterative", "RTA", "BAR"};

static std::vector<std::unique_ptr<SchedulabilityTest>> tests(const char *mode, unsigned m)
{
    std::vector<std::unique_ptr<SchedulabilityTest>> all;
    if (!strcmp(mode, "load")) {
        all.emplace_back(new LoadGedf(m, 1));
    } else if (!strcmp(mode, "qpa")) {
        all.emplace_back(new QPATest(1));
    } else {
        all.emplace_back(new GFBGedf(m));
        all.emplace_back(new LoadGedf(m));
        all.emplace_back(new BakerGedf(m));
        all.emplace_back(new FFDBFGedf(m));
        all.emplace_back(new BCLGedf(m));
        all.emplace_back(new BCLIterativeGedf(m));
        all.emplace_back(new RTAGedf(m));
        all.emplace_back(new BaruahGedf(m));
    }
    return all;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const bool timing = !strcmp(mode, "time");
    // SchedCAT itself prints to standard output here and there: answers take another way out.
    FILE *out = fdopen(dup(1), "w");
    if (!out || !freopen("/dev/null", "w", stdout))
        return 1;
    unsigned m, n;
    long sets = 0;
    std::vector<double> spent(8);
    std::vector<long> accepted(8);
    while (scanf("%u %u", &m, &n) == 2) {
        TaskSet set;
        for (unsigned i = 0; i < n; i++) {
            unsigned long c, t, d;
            if (scanf("%lu %lu %lu", &c, &t, &d) != 3)
                return 1;
            set.add_task(c, t, d);
        }
        const auto all = tests(mode, m);
        for (unsigned i = 0; i < all.size(); i++) {
            double least = 1e9;
            bool answer = false;
            for (int call = 0; call < (timing ? 5 : 1); call++) {
                const double begun = seconds();
                answer = all[i]->is_schedulable(set);
                const double took = seconds() - begun;
                least = std::min(least, took);
                if (took > 0.01)
                    break;
            }
            if (timing) {
                spent[i] += least;
                accepted[i] += answer;
            } else {
                putc(answer ? '1' : '0', out);
            }
        }
        if (!timing)
            putc('\n', out);
        sets++;
    }
    for (unsigned i = 0; timing && i < 8; i++)
        fprintf(out, "%s %.3f us/set, accepted %ld of %ld\n", NAMES[i], spent[i] / sets * 1e6, accepted[i], sets);
    return fclose(out);
}
