// Shared by the hostile programs of all wires. PLAY is set above this text.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");

// Writes at once, whatever the size: a pipe may take only a part of it.
function raw(bytes, fd = 1) {
  let rest = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(fd, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") process.exit(9);
    }
  }
}

// Writes one message.
function say(message) {
  raw(JSON.stringify(message) + "\n");
}

// Calls `take` with each line that is a message.
function listen(take) {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== "") take(JSON.parse(line));
  });
  process.stdin.on("end", () => {
    if (PLAY !== "ignores_term") process.exit(0);
  });
}

if (PLAY === "ignores_term") {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  setInterval(() => {}, 1000);
}

// A child in a session of its own; it carries the environment, and with it the run id.
function grandchild() {
  spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();
}

// Whatever this play writes before it answers as it should.
function noise() {
  if (PLAY === "grandchild") grandchild();
  if (PLAY === "floods_stderr") {
    const block = Buffer.alloc(1 << 20, "x\n");
    for (let i = 0; i < 64; i += 1) raw(block, 2);
  }
  if (PLAY === "endless_line") {
    const block = Buffer.alloc(1000000, "x");
    for (let i = 0; i < 100; i += 1) raw(block);
    raw("\n");
  }
  if (PLAY === "invalid_utf8") raw(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d, 0x0a]));
  if (PLAY === "garbage") raw('not json\n[1,2\n"text"\n\n{"a":}\n42\nnull\n');
}
