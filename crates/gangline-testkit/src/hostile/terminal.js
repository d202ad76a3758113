// A program that reads lines in a terminal and shows a prompt.

const PROMPT = "> ";

function prompt() {
  raw(PROMPT);
}

function answer(line) {
  if (PLAY === "silent_in_the_turn" || PLAY === "ignores_term") return;
  if (PLAY === "exits_after_the_prompt") process.exit(7);
  if (PLAY === "exits_in_a_text") {
    raw("half of a");
    process.exit(7);
  }
  noise();
  if (PLAY !== "success_without_a_word") raw("\nyou said " + line + "\n");
  prompt();
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(line.trim());
});
if (PLAY !== "silent_from_the_start") prompt();
