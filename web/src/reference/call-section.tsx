import { useState } from "react";
import { Code } from "../parts/code";
import { ScrollRegion } from "../parts/scroll-region";
import { type Body, type Call, type Document, jsonMedia, resolve } from "./openapi";
import { Inline, Prose } from "./prose";
import { exampleOf, type Field, fieldsOf } from "./schema";
import { TryIt } from "./try-it";

/** Describes one call: its purpose, request, answer and errors. */
export function CallSection({ document, call }: { document: Document; call: Call }) {
  const [trying, setTrying] = useState(false);
  const parameters = (call.parameters ?? []).map((parameter) => resolve(document, parameter));
  const body = call.requestBody && resolve(document, call.requestBody);
  const request = jsonMedia(body);
  const requestFields: Field[] = [
    ...parameters.map(({ name, in: where, description = "", required = false, schema }) => ({
      name,
      type: `${schema?.type ?? "string"}, in ${where}`,
      required,
      description,
    })),
    ...fieldsOf(document, request?.schema),
  ];
  const { good, bad } = answersOf(document, call);
  return (
    <section className="card stack call" id={call.id}>
      <h3 tabIndex={-1}>
        <span className="method" data-method={call.method}>
          {call.method.toUpperCase()}
        </span>{" "}
        <span className="mono breakable">{call.path}</span>
      </h3>
      {call.summary && <p className="call-summary">{call.summary}</p>}
      {call.description && <Prose text={call.description} />}
      <Fields title="Request" fields={requestFields} />
      {good && (
        <Fields title={`Answer (${good.status})`} fields={fieldsOf(document, jsonMedia(good.body)?.schema)} />
      )}
      {good && <Example value={exampleOf(document, jsonMedia(good.body))} what="example answer" />}
      {bad.length > 0 && <Errors errors={bad} />}
      {/* A stream may never end, and is not shown here. */}
      {(good === undefined || jsonMedia(good.body)) && (
        <details open={trying} onToggle={(event) => setTrying(event.currentTarget.open)}>
          <summary>Try it</summary>
          {trying && (
            <TryIt {...{ document, call }} parameters={parameters} example={exampleOf(document, request)} />
          )}
        </details>
      )}
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

function Fields({ title, fields }: { title: string; fields: readonly Field[] }) {
  if (fields.length === 0) return null;
  return (
    <div>
      <h4>{title}</h4>
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
    </div>
  );
}

function Example({ value, what }: { value: unknown; what: string }) {
  if (value === undefined) return null;
  return <Code text={JSON.stringify(value, null, 2)} what={what} />;
}

function Errors({ errors }: { errors: readonly Answer[] }) {
  return (
    <div>
      <h4>Errors</h4>
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
    </div>
  );
}
