import { readFileSync } from "node:fs";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

// What connectconformance starts as the server under test. The servers run in the test's own process, as starting
// one may take longer than the suite waits: this hands over the port of the version of HTTP that is asked for.
// Arguments: the ports of HTTP/1.1 and of HTTP/2. Messages have their length in four bytes before them.

/** Fields of ServerCompatRequest and ServerCompatResponse. */
const HTTP_VERSION = 2;
const PORT = 2;

const [http1, http2] = process.argv.slice(2).map(Number);
const request = new BinaryReader(readFileSync(process.stdin.fd).subarray(4));
let httpVersion = 0;
while (request.pos < request.len) {
  const [field, wireType] = request.tag();
  if (field === HTTP_VERSION) httpVersion = request.int32();
  else request.skip(wireType, field);
}
const response = new BinaryWriter()
  .tag(PORT, WireType.Varint)
  .uint32(httpVersion === 2 ? http2 : http1)
  .finish();
const length = Buffer.alloc(4);
length.writeUInt32BE(response.length);
process.stdout.write(Buffer.concat([length, response]));
// The suite ends it.
setInterval(() => {}, 60_000);
