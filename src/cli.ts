import { userCommands } from "./cli/commands.js";
import { EXIT } from "./cli/exit.js";
import { failureOf } from "./cli/failure.js";

userCommands()
  .parseAsync()
  .catch((error: unknown) => {
    const { exitCode, lines } = failureOf(error);
    for (const line of lines) console.error(line);
    process.exitCode = exitCode ?? EXIT.failed;
  });
