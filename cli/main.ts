import { userCommands } from "./commands.js";
import { addCompletion } from "./completion.js";
import { EXIT } from "./exit.js";
import { failureOf } from "./failure.js";

const program = userCommands();
addCompletion(program, process.argv.slice(2));

program.parseAsync().catch((error: unknown) => {
  const { exitCode, lines } = failureOf(error);
  for (const line of lines) console.error(line);
  process.exitCode = exitCode ?? EXIT.failed;
});
