import { userCommands } from "./cli/commands.js";
import { addCompletion } from "./cli/completion.js";
import { EXIT } from "./cli/exit.js";
import { failureOf } from "./cli/failure.js";

const program = userCommands();
addCompletion(program, process.argv.slice(2));

program.parseAsync().catch((error: unknown) => {
  const { exitCode, lines } = failureOf(error);
  for (const line of lines) console.error(line);
  process.exitCode = exitCode ?? EXIT.failed;
});
