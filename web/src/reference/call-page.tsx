import { Code } from "../code/code";
import { ScrollRegion } from "../parts/scroll-region";
import { SERVICE_URL } from "../session/client";
import { SampleKeyNote, useSampleKey } from "../start/sample-key";
import { SampleTabs } from "../start/sample-tabs";
import { type Call, streams } from "./calls";
import { MethodAndPath } from "./method-and-path";
import { type Body, type Document, jsonMedia, resolve } from "./openapi";
import { Inline, Prose } from "./prose";
import { samplesOf } from "./samples";
import { exampleOf, type Field, fieldsOf } from "./schema";
import { TryIt } from "./try-it";

/** Describes one call: its purpose, samples, request, answer and errors. */
export function CallPage({ document, call }: { document: Document; call: Call }) {
  const { good, bad } = answersOf(document, call);
  const request = jsonMedia(call.requestBody && resolve(document, call.requestBody));
  return (
    <>
      <section className="card stack">
        <MethodAndPath call={call} />
        <Prose text={descriptionOf(call)} />
        {call.rpc && (
          <p className="hint">
            Over Connect, gRPC and gRPC-Web, its name is <code className="breakable">{call.rpc}</code>.
          </p>
        )}
      </section>
      <Samples call={call} />
      <Fields title="Request" fields={requestFields(document, call)} />
      {good && (
        <Fields title={`Answer (${good.status})`} fields={fieldsOf(document, jsonMedia(good.body)?.schema)}>
          <Example value={exampleOf(document, jsonMedia(good.body))} />
        </Fields>
      )}
      {/* A stream may never end, and is not shown here. */}
      {!streams(call) && <TryIt document={document} call={call} example={exampleOf(document, request)} />}
      {bad.length > 0 && <Errors errors={bad} />}
    </>
  );
}

/** Description of a call, without the path that stands above it. */
function descriptionOf({ description = "", method, path }: Call): string {
  return description.replace(`Also served as \`${method.toUpperCase()} ${path}\`.`, "");
}

function Samples({ call }: { call: Call }) {
  const key = useSampleKey();
  return (
    <section className="card stack">
      <h2>Samples</h2>
      <SampleKeyNote />
      <SampleTabs label="Languages" samples={samplesOf(call, { url: SERVICE_URL, key })} />
    </section>
  );
}

interface Answer {
  readonly status: string;
  readonly body: Body;
}

function answersOf(
  document: Document,
  { responses = {} }: Call,
): { good: Answer | undefined; bad: Answer[] } {
  const answers = Object.entries(responses).map(([status, body]) => ({
    status,
    body: resolve(document, body),
  }));
  return {
    good: answers.find(({ status }) => status.startsWith("2")),
    bad: answers.filter(({ status }) => !status.startsWith("2")),
  };
}

function requestFields(document: Document, { parameters, requestBody }: Call): readonly Field[] {
  const body = requestBody && resolve(document, requestBody);
  const inPlaces = parameters.map(({ name, in: location, description = "", required = false, schema }) => ({
    name,
    required,
    description,
    type: `${schema?.type ?? "string"}, in ${location}`,
  }));
  return [...inPlaces, ...fieldsOf(document, jsonMedia(body)?.schema)];
}

interface FieldsProps {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly children?: React.ReactNode;
}

function Fields({ title, fields, children }: FieldsProps) {
  if (fields.length === 0 && !children) return null;
  return (
    <section className="card stack">
      <h2>{title}</h2>
      {fields.length > 0 && (
        <ScrollRegion label={title}>
          <table className="fields">
            <tbody>
              {fields.map(({ name, type, required, description }) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                    {required && <span className="badge">required</span>}
                    <span className="hint">{type}</span>
                  </th>
                  <td>
                    <Inline text={description} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {children}
    </section>
  );
}

function Example({ value }: { value: unknown }) {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <Code text={text} what="example answer" language="json" />;
}

function Errors({ errors }: { errors: readonly Answer[] }) {
  return (
    <section className="card stack">
      <h2>Errors</h2>
      <dl className="facts errors">
        {errors.map(({ status, body }) => (
          <div key={status}>
            <dt className="mono">{status}</dt>
            <dd>
              <Inline text={body.description ?? ""} />
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="docs/errors">Every code and reason, and what to do about it</a>
      </p>
    </section>
  );
}
