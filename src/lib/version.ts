declare const TURNWRIGHT_VERSION: string | undefined;

/** The package's version, put in by the build; `0.0.0-dev` when run from source. */
export const VERSION: string = typeof TURNWRIGHT_VERSION === 'string' ? TURNWRIGHT_VERSION : '0.0.0-dev';
