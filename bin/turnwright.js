#!/usr/bin/env node
// Starts the bundled command line. Its version it knows without loading anything.
'use strict';
const fs = require('node:fs');
const module_ = require('node:module');
const path = require('node:path');

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  fs.writeSync(1, `turnwright ${require('../package.json').version}\n`);
} else {
  void load(path.join(__dirname, '../dist/cli.cjs')).main(argv);
}

/** Compiling the bundle takes longer than starting Node. From 22.8 on Node keeps what it compiled; before, the build does. */
function load(file) {
  if (module_.enableCompileCache) {
    module_.enableCompileCache();
    return require(file);
  }
  const compiled = `${file}.${process.version}-${process.arch}`;
  return fs.existsSync(compiled)
    ? require('./run-compiled.js').runCompiled(file, fs.readFileSync(compiled))
    : require(file);
}
