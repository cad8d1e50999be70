// Package reports says what a run found: one [Result] value and many
// renderings of it. Start with [New], which makes a Result from verdicts, or
// [ReadJSON], which rebuilds one from a results.json; then choose a rendering:
// [WriteTerminal], [WriteJSON], [WriteJUnit], [WriteMarkdown].
//
// It promises that every rendering says the same as the value, that a Result
// which contradicts itself (a satisfied requirement without an observation, a
// summary that does not add up) is neither written nor read, and that text
// which came from a subject is bounded and escaped for the medium it is put
// into. It does not judge, and it does not know how a verdict was reached.
package reports
