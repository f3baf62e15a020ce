// Takes items and answers none; says on standard error that it has the first.
process.stdin.once("data", () => process.stderr.write("has it\n"));
process.stdin.on("end", () => process.exit());
process.stdin.resume();
