#!/bin/sh
# The wire of Claude Code, as far as a script needs it; the script follows. It counts its starts in
# `life`, keeps what it is told in the file `told`, and stands still in `gate NAME` until the test
# opens that gate.
[ "$1" = --version ] && { echo '2.1.330 (Claude Code)'; exit 0; }
cd "$GT_WORKDIR" || exit 9
echo x >> lives; life=$(wc -l < lives)
echo "$GT_SESSION_ID" >> ids
echo "$*" | grep -o -e '--resume\|--session-id' >> arguments
say() { printf '%s\n' "$1"; }
gate() { read -r open < "gate-$1"; }
ready() {
  read -r init
  say '{"type":"control_response","response":{"subtype":"success","request_id":"gangline-1","response":{}}}'
}
prompt() {
  read -r line || exit 0
  printf '%s\n' "$line" >> told
  uuid=${line##*'"uuid":"'}; uuid=${uuid%%'"'*}
  say "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"started\"}"
}
call() {
  say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"call-1\",\"name\":\"$1\",\"input\":{}}],\"usage\":{\"input_tokens\":5}},\"parent_tool_use_id\":null}"
}
words() {
  says "$1"
  say "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"user_message_uuids\":[\"$uuid\"]}"
}
asks() {
  say "{\"type\":\"control_request\",\"request_id\":\"q1\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"$1\",\"input\":{\"command\":\"ls\"}}}"
}
takes_back() { say '{"type":"control_cancel_request","request_id":"q1"}'; }
too_long() {
  say "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"terminal_reason\":\"prompt_too_long\",\"result\":\"Prompt is too long\",\"user_message_uuids\":[\"$uuid\"]}"
}
says() {
  say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}],\"usage\":{\"input_tokens\":5}},\"parent_tool_use_id\":null}"
}
shortens() { say '{"type":"system","subtype":"status","status":"compacting"}'; }
shortened() {
  shortens
  say '{"type":"system","subtype":"status","status":null,"compact_result":"success"}'
  say "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"\",\"user_message_uuids\":[\"$uuid\"]}"
}
interrupted() {
  read -r interrupt
  id=${interrupt##*'"request_id":"'}; id=${id%%'"'*}
  say "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$id\",\"response\":{}}}"
  say "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"user_message_uuids\":[\"$uuid\"]}"
}
serve() { while :; do prompt; words "answer of life $life"; done; }
