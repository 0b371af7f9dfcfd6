import { InvalidArgumentError } from "commander";
import { commandLine, inOneLine } from "./admin/command-line.js";

const HELP = `
All other settings are environment variables: see docs/configuration.md.`;

/** `recalld serve`: its options stand for settings of the same name. */
void inOneLine(commandLine({ name: "recalld serve", exitCode: 2 }))
  .helpOption("-h, --help", "shows this text")
  .description("runs the server")
  .option("--port <PORT>", "port to listen on (PORT)", portGiven)
  .option("--host <ADDRESS>", "address to listen on (HOST)")
  .option("--data-dir <FOLDER>", "folder of the embedded database (DATA_DIR)")
  .addHelpText("after", HELP)
  .action(async ({ port, host, dataDir }: { port?: string; host?: string; dataDir?: string }) => {
    if (port !== undefined) process.env.PORT = port;
    if (host !== undefined) process.env.HOST = host;
    if (dataDir !== undefined) process.env.DATA_DIR = dataDir;
    await import("./main.js");
  })
  .parseAsync();

function portGiven(value: string): string {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
