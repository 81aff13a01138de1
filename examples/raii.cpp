// SPDX-License-Identifier: MIT
//
// raii.cpp - a client, a lock and a worker as objects of C++17.
//
//     cc -c relet.c && c++ -std=c++17 raii.cpp relet.o -o raii
//     ./raii redis://localhost nightly mails 3
//
// Works on three jobs of the queue "mails" while it holds the lock "nightly".
// However a scope is left, its jobs are ended and its lock is released.
//
// relet_wait hands out the next event, whatever it is about. So one function,
// Client::turn, takes events and gives each to the object that it is about: a
// destructor that waits for its own last event loses no other object's. What
// turn calls only notes the event: no handler of a job runs in a destructor.
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "relet.h"

static relet_span span(const std::string &s) { return {s.data(), s.size()}; }
static std::string text(relet_span s)
{
    return s.n > 0 ? std::string(s.p, s.n) : std::string();
}

class Client {
public:
    using Hear = std::function<void(const relet_event &)>; // must not throw
    explicit Client(const char *url) : r_(nullptr, relet_close)
    {
        relet_fault fault;
        r_.reset(relet_open(url, nullptr, nullptr, &fault));
        if (!r_)
            throw std::runtime_error(fault.text);
    }
    relet *get() const { return r_.get(); }
    // Takes one event, if one comes in time. False: none will ever come.
    bool turn(int ms = -1)
    {
        relet_event ev;
        int code = relet_wait(get(), &ev, ms);
        if (code != 1)
            return code == 0;
        auto &map = ev.lease >= 0 ? leases : workers;
        auto to = map.find(ev.lease >= 0 ? ev.lease : ev.worker);
        if (to == map.end()) {
            if (other)
                other(ev);
            return true;
        }
        to->second(ev);
        if (ev.kind == RELET_EV_LEASE_ENDED || ev.kind == RELET_EV_WORKER_ENDED)
            map.erase(to); // from now on the number may be another one's
        return true;
    }
    // A number, or the exception that its code stands for.
    int check(int code) const
    {
        if (code < 0)
            throw std::runtime_error(std::string(relet_code_text(code)) + ": " +
                                     relet_refusal(get()));
        return code;
    }
    std::map<int, Hear> leases, workers;
    Hear other; // links, outcomes, messages
private:
    std::unique_ptr<relet, decltype(&relet_close)> r_;
};

// Like std::lock_guard, but the lock may be lost while it is held: ask
// valid_for before each step that only one may do, and pass the token on.
class LeaseGuard {
public:
    LeaseGuard(Client &client, const std::string &name, relet_time wait_ms)
        : client_(client)
    {
        relet_lease_config c{};
        c.name = span(name);
        c.once = 1;
        c.wait_ms = wait_ms;
        number_ = client.check(relet_lease_start(client.get(), &c));
        client.leases[number_] = [this](const relet_event &ev) {
            if (ev.kind == RELET_EV_LEASE_GAINED)
                token_ = ev.token;
            ended_ = ended_ || ev.kind == RELET_EV_LEASE_ENDED;
        };
        while (!token_ && !ended_ && client.turn())
            continue;
        if (token_)
            return;
        release(); // what is not constructed is not destroyed
        throw std::runtime_error("the lock is not free in time");
    }
    LeaseGuard(const LeaseGuard &) = delete;
    ~LeaseGuard() { release(); }
    relet_time valid_for() const
    {
        return ended_ ? 0 : relet_lease_valid_for(client_.get(), number_,
                                                  relet_clock());
    }
    uint64_t token() const { return token_; }
private:
    // Waits for the server's answer; without a link, until the lease is over.
    void release()
    {
        if (!ended_ && relet_lease_stop(client_.get(), number_) == 0)
            relet_lease_work_done(client_.get(), number_);
        while (!ended_ && client_.turn())
            continue;
        if (!ended_)
            client_.leases.erase(number_);
    }
    Client &client_;
    int number_;
    uint64_t token_ = 0;
    bool ended_ = false;
};

struct Job {
    uint64_t number, token;
    std::string payload; // a copy: the event is lent until the next turn only
};

// Jobs for a function, one at a time. What it returns is the result; if it
// throws, the job is tried again later, or is dead if it has no attempts left.
// While it runs no lease is renewed, also not that of a lock: it has to be
// short. Work that takes long belongs into threads, as in threads.c.
class Worker {
public:
    using Handler = std::function<std::string(const Job &)>;
    Worker(Client &client, const std::string &queue, Handler handler)
        : client_(client), handler_(std::move(handler))
    {
        relet_worker_config c{};
        c.queue = span(queue);
        number_ = client.check(relet_worker_start(client.get(), &c));
        client.workers[number_] = [this](const relet_event &ev) {
            relet_work w;
            size_t at = 0;
            while (ev.kind == RELET_EV_JOBS &&
                   relet_jobs_next(client_.get(), &ev, &at, &w))
                jobs_.push_back({w.number, w.token, text(w.job.payload)});
            ended_ = ended_ || ev.kind == RELET_EV_WORKER_ENDED;
        };
    }
    Worker(const Worker &) = delete;
    ~Worker() // gives back what was not begun, and waits until all is told
    {
        if (!ended_)
            relet_worker_stop(client_.get(), number_);
        do {
            for (; !jobs_.empty(); jobs_.pop_front())
                end(relet_job_release, jobs_.front());
        } while (!ended_ && client_.turn());
        if (!ended_)
            client_.workers.erase(number_);
    }
    void work_on_one()
    {
        while (jobs_.empty())
            if (ended_ || !client_.turn())
                throw std::runtime_error("no more jobs will come");
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        if (relet_job_valid_for(client_.get(), number_, job.number,
                                relet_clock()) == 0)
            return (void)end(relet_job_release, job); // lost while it waited
        std::string said;
        try {
            said = handler_(job);
            client_.check(end(relet_job_done, job, span(said)));
            return;
        } catch (const std::exception &e) { // also of a result that is too long
            said = std::string(e.what()).substr(0, 1000);
        } catch (...) {
            said = "an unknown exception";
        }
        relet_failure f{RELET_RETRY, span(said), 0};
        end(relet_job_fail, job, &f);
    }
private:
    // Each job must be ended by a call that is accepted, or else WORKER_ENDED
    // never comes. LIMIT and MEMORY are refusals of the moment.
    template <typename Call, typename... With>
    int end(Call call, const Job &job, With... with)
    {
        int code;
        do
            code = call(client_.get(), number_, job.number, with...);
        while ((code == RELET_E_LIMIT || code == RELET_E_MEMORY) &&
               client_.turn(100));
        return code;
    }
    Client &client_;
    Handler handler_;
    int number_;
    bool ended_ = false;
    std::deque<Job> jobs_;
};

int main(int argc, char **argv)
try {
    if (argc != 5)
        throw std::runtime_error("usage: raii URL LOCK QUEUE JOBS");
    Client client(argv[1]);
    client.other = [](const relet_event &ev) {
        if (ev.kind == RELET_EV_DOWN)
            std::cerr << text(ev.text) << std::endl;
    };
    {
        LeaseGuard lock(client, argv[2], 5000);
        std::cout << "locked " << lock.token() << std::endl;
        Worker worker(client, argv[3], [&](const Job &job) {
            if (lock.valid_for() < 200)
                throw std::runtime_error("the lock ends too soon");
            std::cout << "job " << job.payload << std::endl;
            return "sent " + job.payload;
        });
        for (int n = std::stoi(argv[4]); n > 0; n--)
            worker.work_on_one();
    } // the worker ends first, then the lock
    std::cout << "released" << std::endl;
    return 0;
} catch (const std::exception &e) {
    std::cerr << e.what() << std::endl;
    return 1;
}
