// Throughput of jobs that run at the same time, on a machine with other work.
//
// All jobs of a round begin early, to warm up, and count what they do in one common interval of wall-clock time. A thread that
// is late, or lost its processor to another in between, spoils the round; blocking on a lock does not. Each thread has a
// processor of its own where there are enough.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace pace {

using clock = std::chrono::steady_clock;
using Job = std::function<std::size_t()>;          // does a batch, says how many operations that was

constexpr auto WARM_UP = std::chrono::microseconds(700), INTERVAL = std::chrono::microseconds(2000);

struct Round {
    bool undisturbed = true;
    std::vector<std::size_t> done;                 // operations of each job in the interval
    double nanoseconds(std::size_t job) const {
        return std::chrono::duration<double, std::nano>(INTERVAL).count() / static_cast<double>(done[job] ? done[job] : 1);
    }
    double nanoseconds() const {                   // of all jobs together
        std::size_t sum = 0;
        for (const std::size_t n : done) sum += n;
        return std::chrono::duration<double, std::nano>(INTERVAL).count() / static_cast<double>(sum ? sum : 1);
    }
};

inline long preemptions() {
    rusage use{};
    getrusage(RUSAGE_THREAD, &use);
    return use.ru_nivcsw;
}

inline void own_processor(std::size_t number) {
    cpu_set_t allowed, mine;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed) && number-- == 0) {
            CPU_ZERO(&mine);
            CPU_SET(cpu, &mine);
            sched_setaffinity(0, sizeof mine, &mine);
            return;
        }
}

inline Round run(const std::vector<Job>& jobs) {
    std::atomic<std::size_t> ready{0};
    std::atomic<bool> late{false};
    std::atomic<clock::rep> start{0};
    Round round;
    round.done.resize(jobs.size());
    const auto work = [&](std::size_t t) {
        own_processor(t);
        ++ready;
        while (ready < jobs.size()) std::this_thread::yield();
        clock::rep none = 0;
        start.compare_exchange_strong(none, clock::now().time_since_epoch().count());
        const clock::time_point from = clock::time_point(clock::duration(start.load())) + WARM_UP, to = from + INTERVAL;
        if (clock::now() > from - WARM_UP / 2) late = true;
        while (clock::now() < from) jobs[t]();
        const long before = preemptions();
        std::size_t done = 0;
        for (;;) {
            const std::size_t n = jobs[t]();
            if (clock::now() >= to) break;
            done += n;
        }
        if (preemptions() != before) late = true;
        round.done[t] = done;
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < jobs.size(); ++t) threads.emplace_back(work, t);
    for (auto& t : threads) t.join();
    round.undisturbed = !late;
    return round;
}

// The best of many rounds; undisturbed ones only, if there was any.
struct Best {
    double value = 1e18, disturbed = 1e18;
    int undisturbed = 0;
    void take(bool good, double nanoseconds) {
        undisturbed += good;
        double& best = good ? value : disturbed;
        if (nanoseconds < best) best = nanoseconds;
    }
    double get() const { return undisturbed ? value : disturbed; }
};

}  // namespace pace
