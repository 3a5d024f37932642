// The builder's own ids of modules depend on the folder of the build; numbers in order do not, so that a build gives the same
// files everywhere.
module.exports = { optimization: { moduleIds: 'natural' } };
