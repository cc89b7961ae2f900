import {
  type HttpListener,
  type HttpListenerOptions,
  listenHttp,
} from "../src/http1/http_listener.ts";

/** A listener of the product on a free port of this machine, in front of what answers requests. */
export function listening(answer: HttpListenerOptions["answer"]): HttpListener & { url: string } {
  const listener = listenHttp({ hostname: "127.0.0.1", port: 0, answer, onError() {} });
  return Object.assign(listener, { url: `http://127.0.0.1:${listener.port}` });
}
