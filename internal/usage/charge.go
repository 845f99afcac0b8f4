package usage

import (
	"context"
	"slices"
)

// Account is whom calls of language models are charged to: a model, an agent. The JSON names are for stores.
type Account struct {
	Scope  string `json:"scope"` // that its tokens are counted under, such as agent/7; never that of another account, earlier or later
	Name   string `json:"name"`  // in messages, such as agent "support"
	Budget Budget `json:"budget"`
}

// charges is what a context says of the calls that are made in it.
type charges struct {
	accounts []Account
	atOnce   bool
	patient  bool
}

type chargesKey struct{}

func chargesOf(ctx context.Context) charges {
	c, _ := ctx.Value(chargesKey{}).(charges)
	return c
}

// Charged returns a context in which every call of a language model is admitted by each of these accounts and counted for it, beside the
// account of the model and those that ctx is charged to, each once. It is enough to pass it on: whatever calls a model within a turn of an agent, a
// tool or what sums a session up, is charged to the agent by the context of the turn.
//
// Who is charged has begun something that it wants to finish. So a call in this context that finds no place among the requests
// per second, of any of its accounts, waits for one until the context ends, where others are refused. A quota of tokens that is
// used up refuses every call.
func Charged(ctx context.Context, all ...Account) context.Context {
	was := chargesOf(ctx)
	accounts := slices.Clone(was.accounts)
	for _, a := range all {
		if !slices.ContainsFunc(accounts, func(b Account) bool { return a.Scope == b.Scope }) {
			accounts = append(accounts, a)
		}
	}
	return context.WithValue(ctx, chargesKey{}, charges{accounts, was.atOnce, was.patient})
}

// AtOnce returns a context like ctx in which calls that find no place are refused, although they are charged to an account. It
// is for what can still be sent back to whoever asked for it.
func AtOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, chargesKey{}, charges{chargesOf(ctx).accounts, true, false})
}

// Patient returns a context like ctx in which calls that find no place wait for one, although nobody is charged beside the model. It is
// for the rest of what has begun.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, chargesKey{}, charges{chargesOf(ctx).accounts, false, true})
}
