#!/usr/bin/env node
// Starts the bundled command line. The compile cache exists on Node 22.8 and newer and makes later starts cheaper.
import module from 'node:module';

module.enableCompileCache?.();
const { main } = await import('../dist/cli.js');
await main(process.argv.slice(2));
