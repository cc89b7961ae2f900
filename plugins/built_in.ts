import type { Plugin } from "../src/interfaces/plugin.ts";
import lancedb from "./lancedb/plugin.ts";
import local from "./local/plugin.ts";
import memory from "./memory/plugin.ts";
import ollama from "./ollama/plugin.ts";
import onnx from "./onnx/plugin.ts";
import openai from "./openai/plugin.ts";
import postgres from "./postgres/plugin.ts";
import s3 from "./s3/plugin.ts";
import sui from "./sui/accounts/plugin.ts";
import seal from "./sui/seal/plugin.ts";
import enoki from "./sui/sponsors/enoki/plugin.ts";
import gasStation from "./sui/sponsors/gas_station/plugin.ts";
import walrus from "./sui/walrus/plugin.ts";
import useLite from "./use_lite/plugin.ts";

/**
 * The plugins that come with the program. Every start loads these modules; what does a plugin's work,
 * and the packages it needs, is loaded by the factories of those that are chosen.
 */
export const BUILT_IN: readonly Plugin[] = [
  local,
  memory,
  enoki,
  gasStation,
  lancedb,
  ollama,
  onnx,
  openai,
  postgres,
  s3,
  seal,
  sui,
  useLite,
  walrus,
];
