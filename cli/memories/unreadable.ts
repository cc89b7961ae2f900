/** A file that cannot be read as what it is, in words that begin behind its name. */
export class Unreadable extends Error {}
