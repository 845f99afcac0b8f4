// Package turn is the loop that answers an input: it calls the model with what the session holds, runs the tools that the
// model asks for, and goes from step to step until one ends the turn. What it does is in docs/design/agent-turn.md.
package turn
