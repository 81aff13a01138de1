/* SPDX-License-Identifier: MIT
 *
 * marks.h - marks: events that a campaign of many seeds has to meet, or it
 * proves little. Each mark is counted; with MARKS=1 a campaign fails if a mark
 * was never met. */
#ifndef SIM_MARKS_H
#define SIM_MARKS_H

#include <stdint.h>

#define SIM_MARKS(X) \
    X(short_write) X(one_byte_read) X(crlf_split) X(pipe_full) \
    X(reset_noticed_late) X(fin_with_data) X(cut_up) X(cut_down) X(hole_up) \
    X(hole_down) X(hole_connect) X(stalled) X(connect_refused) \
    X(connect_hangs) X(late_arrival_of_the_closed) X(ran_after_close) \
    X(killed_after_run) X(crowded) X(paused) X(giant_step) X(crashed) \
    X(stopped) X(memory_refused) X(boot_refused) X(restarted) X(writes_lost) \
    X(loading) X(frozen) X(failover) X(failover_lost) X(read_only) \
    X(judged_behind_a_loss) X(clock_jumped) X(clock_stopped) \
    X(scripts_flushed) X(flushed_between) X(clogged) X(noscript) \
    X(error_reply) X(unit_refused) X(greeting_refused) X(greeting_busy) \
    X(unsure) X(unsure_timeout) X(unsure_broken) X(not_sent) \
    X(not_sent_in_time) X(late_swallowed) X(repeated) X(cancelled) \
    X(limit_reached) X(message) X(push_between_answers) X(gap) X(restored) \
    X(unwished) X(wish_refused) X(wake_refused) X(invalidated) \
    X(spurious_wake) \
    X(gave_up_silent) X(too_large) X(resubscribed) X(grant_repeated) \
    X(grant_unused) X(grant_after_stop) X(renew_refused) X(renew_late) \
    X(renew_of_older) X(release_lost) X(released) X(token_floor_used) \
    X(two_masters) X(woken_by_leader) X(quarantined) X(lease_error) X(led) \
    X(lost_expired) X(lost_taken) X(lost_gone) X(lost_clock) X(lost_group) \
    X(lost_stopped) X(lease_trouble) X(wait_timed_out) X(fenced_off) \
    X(effect_held_back) X(other_took) X(other_waited) X(handed_over) \
    X(led_alone) X(copied) X(synced) X(too_few_copies) X(not_replicated) \
    X(copies_saved) X(failed_back) X(promoted) X(promoted_late) X(job_renewed) \
    X(job_renewed_late) X(job_renewed_while_stopping) X(late_done) X(job_kept) \
    X(dead_by_attempts) X(dead_by_stalls) X(job_again) X(job_given_back) \
    X(job_relet) X(claimed_by_the_gone) X(claim_after_stop) X(claim_recalled) \
    X(claimed_many) X(stalled_unheard) X(job_slow) X(deed_held_back) \
    X(deed_refused) X(lost_and_ended) X(job_lost_expired) X(job_lost_taken) \
    X(job_lost_gone) X(job_end_unsure) X(job_too_old) X(job_too_late) \
    X(job_abandoned) X(worker_ended) X(put_repeated) X(put_stands_in) \
    X(put_together) X(ranked) X(claimed_by_type) X(reaper_held_off) \
    X(woken_by_put) X(passed_over) X(cancelled_and_failed) \
    X(cancelled_and_given_back) X(cancelled_and_reaped) X(cancelled_and_told) \
    X(cancelled_by_time) X(cancelled_while_it_runs) \
    X(cancelled_while_it_waits) X(cancelled_while_delayed) X(buried_unbegun) \
    X(purged) X(purged_while_it_runs) X(replayed) X(trimmed) X(replaced) \
    X(throttled) X(retained) X(job_progress) X(put_over_the_bound) X(end_told) \
    X(status_asked) X(job_looked_for) X(jobs_listed) X(promoted_in_part) \
    X(team_is_full) X(woken_by_delayed) X(woken_by_release) X(woken_by_reaper) \
    X(await_heard) X(await_found) X(await_gone) X(await_of_another) \
    X(await_timed_out) X(await_unput) X(watched) X(watch_lost) \
    X(closed_unread) X(reset_behind_data) X(cut) X(lease_cut) \
    X(cut_behind_a_change) X(cut_in_two_places) X(repaired_in_vain) \
    X(forgotten_dead) X(streamed) X(attribute) X(lied) X(odd_push) \
    X(found_out) X(dead_for_good) X(apart_for_good) X(stuck_for_good)

enum {
#define SIM_MARK_ENUM(name) SIM_MARK_##name,
    SIM_MARKS(SIM_MARK_ENUM)
    SIM_MARKS_N
};

extern uint64_t sim_marks[SIM_MARKS_N];
extern const char *const sim_mark_name[SIM_MARKS_N];
#define SIM_MARK(name) ((void)sim_marks[SIM_MARK_##name]++)

#endif
