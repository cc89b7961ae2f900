/** Upper bounds of the duration histograms, seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Of calls that may take as long as a language model. */
const LONG_BUCKETS = [...BUCKETS, 30, 60];

type Labels = Readonly<Record<string, string>>;

const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
]);

/** A method as a label: callers may invent others. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : "other";
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

class Series<T> {
  readonly values = new Map<string, { readonly labels: Labels; value: T }>();

  get(labels: Labels, initial: () => T): { readonly labels: Labels; value: T } {
    const key = labelText(labels);
    let item = this.values.get(key);
    if (item === undefined) this.values.set(key, item = { labels, value: initial() });
    return item;
  }
}

/** A metric that only grows. */
export class Counter {
  readonly #series = new Series<number>();

  /** Named as Prometheus wants it. */
  constructor(readonly name: string, readonly help: string) {}

  /** Adds one. Label values come from closed sets, never from callers. */
  add(labels: Labels): void {
    this.#series.get(labels, () => 0).value++;
  }

  lines(): string[] {
    const lines = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} counter`];
    for (const { labels, value } of this.#series.values.values()) {
      lines.push(`${this.name}${labelText(labels)} ${value}`);
    }
    return lines;
  }
}

interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Durations in seconds. */
class Histogram {
  readonly #series = new Series<Distribution>();

  constructor(readonly name: string, readonly help: string, readonly bounds = BUCKETS) {}

  observe(labels: Labels, seconds: number): void {
    const { value } = this.#series.get(labels, () => ({
      counts: this.bounds.map(() => 0),
      sum: 0,
      count: 0,
    }));
    value.sum += seconds;
    value.count++;
    const at = this.bounds.findIndex((bound) => seconds <= bound);
    if (at >= 0) value.counts[at] = value.counts[at]! + 1;
  }

  lines(): string[] {
    const lines = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} histogram`];
    for (const { labels, value } of this.#series.values.values()) {
      let below = 0;
      for (const [i, bound] of this.bounds.entries()) {
        below += value.counts[i]!;
        lines.push(`${this.name}_bucket${labelText({ ...labels, le: String(bound) })} ${below}`);
      }
      lines.push(`${this.name}_bucket${labelText({ ...labels, le: "+Inf" })} ${value.count}`);
      lines.push(`${this.name}_sum${labelText(labels)} ${value.sum}`);
      lines.push(`${this.name}_count${labelText(labels)} ${value.count}`);
    }
    return lines;
  }
}

interface Gauge {
  readonly labels: Labels;
  readonly value: number;
}

/** Lines of a gauge, or of a counter whose value is kept elsewhere. */
export function gaugeLines(
  name: string,
  help: string,
  type: "gauge" | "counter",
  values: readonly Gauge[],
): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
  ];
}

/** A call of a backend that has ended; `failure` is the code of a failure. */
interface BackendCall {
  readonly dependency: string;
  readonly operation: string;
  readonly seconds: number;
  readonly failure?: string;
}

/** What requests are counted by. Labels never hold keys, owners or namespaces. */
export class HttpMetrics {
  readonly requests: Counter = new Counter(
    "svc_http_requests_total",
    "Requests by route and status",
  );
  readonly durations: Histogram = new Histogram(
    "svc_http_request_duration_seconds",
    "Time from request to answer",
  );
  readonly errors: Counter = new Counter("svc_errors_total", "Error answers by code");
  readonly denials: Counter = new Counter(
    "svc_rate_limit_denials_total",
    "Requests refused by a rate limit",
  );
  readonly sidecarFailures: Counter = new Counter(
    "svc_sidecar_failures_total",
    "Requests and streams that failed at the sidecar, by reason",
  );
  readonly jobs: Histogram = new Histogram(
    "svc_job_duration_seconds",
    "Time from acceptance to the end of a job",
  );
  readonly calls: Histogram = new Histogram(
    "svc_external_request_duration_seconds",
    "Time of calls of backends, by dependency and operation",
    LONG_BUCKETS,
  );
  readonly callFailures: Counter = new Counter(
    "svc_external_request_failures_total",
    "Calls of backends that failed, by dependency, operation and code",
  );
  inFlight = 0;

  /** Takes note of a call of a backend. */
  noteCall({ dependency, operation, seconds, failure }: BackendCall): void {
    this.calls.observe({ dependency, operation }, seconds);
    if (failure !== undefined) this.callFailures.add({ dependency, operation, code: failure });
  }
}
