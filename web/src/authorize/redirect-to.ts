/** Schemes of addresses that would run in this page. The server refuses them, too. */
const RUNS_HERE = ["javascript:", "data:", "blob:", "vbscript:"];

/** Goes to the application. */
export function redirectTo(address: string): void {
  // Browsers pass over line ends and tabs, also within the scheme.
  if (RUNS_HERE.includes(new URL(address, location.href).protocol))
    throw new Error("the address is no place to go to");
  location.assign(address);
}
