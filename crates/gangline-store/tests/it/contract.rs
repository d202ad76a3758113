//! What every engine must hold, one function per sentence; run for SQLite here.
//!
//! An engine that is added later runs the same functions with a fixture of its own.

mod acts;
mod agents;
mod alerts;
mod approvals;
mod asked;
mod budgets;
mod causes;
mod changes;
mod events;
mod findings;
mod folder_trust;
mod letters;
mod messages;
mod orders;
mod outbox;
mod questions;
mod reminders;
mod restarts;
mod tokens;
mod turn_orders;
mod turns;
mod wakes;
mod whispers;

macro_rules! on_sqlite {
    ($($topic:ident: $($name:ident),+ $(,)?;)+) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $name() {
                super::super::$topic::$name(&crate::support::Fixture::new()).await;
            })+
        })+
    };
}

mod sqlite {
    on_sqlite! {
        messages:
            a_message_is_read_back_whole,
            an_intake_key_is_taken_once_per_agent_and_network,
            only_a_new_row_that_waits_is_told_at_its_commit,
            a_cursor_moves_also_with_a_duplicate,
            waiting_messages_come_oldest_first_and_only_when_due,
            a_refused_message_never_waits,
            a_new_message_has_no_other_state,
            only_what_waits_can_be_cancelled,
            a_held_message_waits_again_when_released,
            lists_are_newest_first_and_narrowed,
            a_trace_shows_the_whole_life;
        turn_orders:
            an_order_names_an_open_turn_and_ends_no_other,
            an_order_whose_turn_ended_otherwise_is_void,
            a_successor_finds_who_ended_a_lost_turn,
            abort_ends_turn_and_escalation_in_one_commit,
            an_escalation_is_answered_in_one_commit,
            a_choice_and_what_it_does_are_one_commit,
            a_backend_is_tried_again_once,
            an_order_about_the_session_waits_until_it_was_done,
            what_was_allowed_and_heard_is_known_to_the_next_attempt;
        questions:
            a_number_names_an_approval_or_a_question,
            a_question_is_asked_once_with_its_rows_and_lines,
            an_answer_stands_once_and_comes_to_the_asker,
            a_question_whose_time_is_over_is_closed_by_the_watchdog,
            a_withdrawn_question_says_by_whom,
            votes_are_counted_until_one_answer_stands,
            agents_count_as_their_rule_says_and_people_always,
            questions_are_listed_newest_first_and_narrowed,
            an_agent_has_a_bounded_number_of_open_questions,
            the_end_of_a_turn_answers_what_it_was_asked,
            each_question_of_a_turn_gets_its_own_answer,
            a_turn_that_asks_back_leaves_its_question_open,
            a_lost_turn_does_not_get_its_answered_question_again;
        asked:
            what_is_no_answer_does_not_prompt_the_asker;
        reminders:
            a_reminder_fires_once_into_the_inbox,
            a_reminder_that_repeats_waits_for_its_next_time,
            reminders_that_follow_from_reminders_have_an_end,
            reminders_are_bounded_listed_and_removed;
        findings:
            a_finding_is_raised_once_seen_and_resolved,
            a_choice_resolves_a_finding_once,
            what_holds_no_more_can_be_found_again,
            a_removed_agent_waits_for_nobody_until_it_is_back,
            findings_are_fenced_and_listed_newest_first,
            a_message_that_is_given_up_is_found_and_can_be_tried_again,
            held_messages_are_found_until_they_are_released,
            all_that_waits_for_a_human_is_one_ranked_list;
        changes:
            the_hub_takes_what_is_allowed_and_nothing_else,
            a_change_goes_only_where_its_step_begins;
        acts:
            a_call_of_the_next_attempt_finds_what_the_lost_one_did,
            an_act_belongs_to_the_attempt_that_completes,
            only_attempts_that_share_a_message_find_each_others_acts,
            a_line_that_could_not_be_delivered_is_said_again,
            a_call_that_is_repeated_in_its_turn_finds_the_same,
            a_call_that_waits_takes_over_the_question,
            attempts_that_are_cut_off_say_each_line_once_and_in_order;
        letters:
            a_letter_is_sent_once_read_and_settled_once;
        alerts:
            alerts_of_one_group_are_one_row_with_a_count,
            an_alert_is_told_by_one_process_and_looked_at_again,
            an_alert_waits_while_what_it_is_about_is_open,
            a_delivery_is_sent_by_one_process_and_tried_again,
            an_older_daemon_raises_no_alert,
            a_finding_that_people_must_know_of_raises_an_alert_once,
            seen_findings_and_many_of_a_kind_call_once;
        restarts:
            a_start_is_told_once_and_takes_back_what_earlier_ones_left;
        wakes:
            a_wake_is_a_message_and_a_cause_of_its_own,
            a_repeated_key_wakes_once,
            no_label_looks_like_an_agents_or_an_owners_name,
            a_label_wakes_an_agent_ten_times_a_minute;
        whispers:
            a_whisper_waits_until_it_is_delivered_once,
            an_agent_has_a_bounded_number_of_whispers,
            the_oldest_whisper_of_the_rules_makes_room;
        folder_trust:
            the_newest_word_about_a_folder_holds;
        tokens:
            a_token_is_found_by_its_hash_used_and_revoked;
        turns:
            a_take_counts_the_attempt_and_opens_the_turn,
            a_message_that_is_gone_is_reported_and_not_taken,
            a_repeated_take_counts_once,
            a_steered_message_joins_the_open_turn,
            nothing_is_taken_into_a_turn_that_ended,
            an_end_is_one_commit_of_everything,
            a_turn_ends_once,
            what_is_written_together_keeps_its_order_and_a_refusal_is_its_own,
            what_is_written_together_is_fenced_all_of_it,
            a_message_that_the_end_forgot_waits_again,
            an_attempt_that_was_not_its_fault_is_not_counted,
            a_cancelled_message_is_not_settled_by_the_turn,
            a_lost_turn_is_found_and_ended_by_the_next_epoch;
        causes:
            all_turns_of_a_cause_are_counted_and_the_next_is_held,
            a_limit_is_told_once_by_one_of_many,
            on_our_own_server_the_owner_hears_of_a_limit_in_private,
            a_lower_limit_of_one_agent_holds_that_one_only,
            another_attempt_and_a_second_message_of_a_turn_are_not_counted,
            agents_that_one_line_names_share_its_cause,
            a_turn_that_the_backend_began_follows_from_the_last_one,
            a_message_of_too_many_hops_is_held_and_a_release_lets_it_go_on,
            a_release_gives_more_turns_and_wakes_what_was_held,
            an_ended_cause_takes_all_with_it,
            a_limit_is_told_where_it_began,
            a_queue_is_counted_however_long_it_is;
        outbox:
            a_send_makes_one_row_per_line,
            the_same_key_gives_the_same_rows,
            a_line_goes_from_queued_to_confirmed,
            a_send_keeps_the_form_of_its_first_time,
            all_lines_of_a_message_are_settled_together,
            a_line_that_was_cut_goes_on,
            an_undeliverable_line_names_whom_to_tell,
            lines_that_were_sent_and_not_confirmed_still_wait,
            a_delivery_to_an_agent_is_made_once,
            a_line_knows_its_cause,
            a_private_line_knows_the_line_that_it_answers,
            a_private_line_knows_who_asked_for_it;
        events:
            events_keep_their_order_and_page_by_cursor,
            the_newest_events_come_oldest_first,
            a_turn_has_its_own_events,
            events_are_recorded_together_or_not_at_all;
        approvals:
            a_request_is_asked_once_and_announced_with_its_number,
            a_decision_reaches_the_runtime_once,
            a_decision_is_said_once_wherever_it_was_announced,
            a_closed_approval_takes_no_second_decision,
            what_was_allowed_for_good_is_not_asked_again,
            a_void_rule_is_kept_and_allows_nothing,
            what_is_unclear_makes_no_rule,
            an_agent_has_a_bounded_number_of_rules,
            a_removed_rule_does_not_count_for_the_next_attempt,
            what_is_allowed_for_good_after_its_turn_is_gone_makes_a_rule,
            the_end_of_a_turn_withdraws_what_is_open,
            a_runtime_takes_one_back_and_those_who_were_asked_are_told,
            an_approval_is_announced_with_the_last_line_that_is_confirmed,
            a_reminder_takes_nothing_back_that_was_heard,
            a_re_ask_opens_the_same_number,
            a_decision_on_a_void_approval_counts_for_the_next_attempt,
            a_decision_on_a_void_approval_is_forgotten_one_attempt_later,
            a_decision_that_missed_its_runtime_is_kept,
            another_question_gets_another_number;
        budgets:
            spending_is_added_up_by_agent_room_and_day,
            no_number_breaks_a_sum,
            relayed_calls_are_counted_by_day_and_end,
            a_noted_call_that_did_not_end_is_listed_to_the_next_life,
            a_budget_is_raised_for_one_day,
            one_hold_of_the_fleet_is_open_at_a_time,
            what_was_used_is_kept_for_ninety_days;
        agents:
            each_start_raises_the_epoch_and_keeps_the_session,
            a_session_belongs_to_the_backend_that_made_it,
            a_session_is_known_by_an_id_of_ours,
            an_older_daemon_is_fenced_from_every_write,
            a_process_bound_to_an_epoch_is_fenced_without_naming_it,
            a_pause_outlives_the_daemon,
            pauses_are_kept_by_reason,
            usage_adds_up,
            accounts_have_names_and_tiers,
            the_installation_keeps_its_id,
            a_closed_store_says_so,
            one_failing_write_does_not_spoil_its_group;
        orders:
            an_order_is_kept_until_another_is_given,
            a_restart_names_the_epoch_that_ends_and_numbers_rise,
            a_restart_of_what_is_down_orders_it_up,
            another_backend_is_kept_until_it_is_taken_back;
    }
}
