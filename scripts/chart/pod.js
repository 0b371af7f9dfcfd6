// node scripts/chart/pod.js IMAGE: prints the pod of deploy/kubernetes/embedded.yaml with its claim, for
// `podman kube play`, which knows no StatefulSet. It is on the host's network, so without ports of its own; and
// without probes, which podman would ask by a curl that is not in the image.
import { readFileSync } from "node:fs";
import { parseAllDocuments, stringify } from "yaml";

const objects = parseAllDocuments(readFileSync("deploy/kubernetes/embedded.yaml", "utf8")).map((each) =>
  each.toJS(),
);
const { template, volumeClaimTemplates } = objects.find((each) => each?.kind === "StatefulSet").spec;
const [{ spec: claim }] = volumeClaimTemplates;
const [{ ports, startupProbe, livenessProbe, readinessProbe, ...container }] = template.spec.containers;
const name = "recalld-played";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: template.metadata.labels },
  spec: {
    ...template.spec,
    hostNetwork: true,
    containers: [{ ...container, image: process.argv[2], imagePullPolicy: "Never" }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
  },
};
const persistentVolumeClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: claim,
};
console.log(`${stringify(persistentVolumeClaim)}---\n${stringify(pod)}`);
