/**
 * Ends the specifier of an import whose module, with the packages that it brings, is loaded when
 * the import is reached: ``import(`./backends.ts${LATER}`)``. What is a literal belongs to the
 * program's own graph, and every first start would fetch it.
 */
export const LATER = "";
