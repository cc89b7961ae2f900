/** A relayer and the dashboard that belongs to it; base addresses without a trailing slash. */
export interface Addresses {
  readonly relayer: string;
  readonly webUrl: string;
}

/** The pair on this machine. */
const LOCAL: Addresses = { relayer: "http://127.0.0.1:8000", webUrl: "http://localhost:5173" };

/**
 * Addresses of the presets. Those of a hosted service are fixed when the package is built; a build
 * without them leaves them out.
 */
export const PRESETS: {
  readonly local: Addresses;
  readonly [hosted: string]: Addresses | undefined;
} = {
  local: LOCAL,
  prod: undefined,
  dev: undefined,
  staging: undefined,
};
