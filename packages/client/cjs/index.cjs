// For `require`: Node from 20.19 on loads the modules of the package at once.
module.exports = require('../dist/index.js');
