package builtin

import "context"

func (a *answering) fill(ctx context.Context) error { return a.say("{}") }
