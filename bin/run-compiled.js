'use strict';
const fs = require('node:fs');
const module_ = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

/** The script of a CommonJS file, with the code V8 made of it before. Other code than its own V8 refuses, and compiles. */
function openScript(file, cachedData) {
  const source = module_.wrap(fs.readFileSync(file, 'utf8'));
  return new vm.Script(source, { filename: file, cachedData });
}

/** What the file exports, as `require` would give it. */
function runScript(script, file) {
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, module_.createRequire(file), loaded, file, path.dirname(file));
  return loaded.exports;
}

function runCompiled(file, cachedData) {
  return runScript(openScript(file, cachedData), file);
}

module.exports = { openScript, runCompiled, runScript };
