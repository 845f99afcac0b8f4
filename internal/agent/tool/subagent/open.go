package subagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
	"quarry/internal/opt"
)

// open returns the session that a call uses.
func (k *kind) open(ctx context.Context, c *call, target *agent.Agent) (session.Session, error) {
	if mark := k.mark(c); mark != "" {
		x, fresh, err := k.made(ctx, c, target, mark, k.mode == Persistent || c.Again)
		if err != nil || fresh {
			return x, err
		}
		return k.keep(ctx, c, x)
	}
	x, err := k.Sessions.Get(ctx, target.No, *c.args.Session)
	if fault.Is(err, fault.KindNotFound) || err == nil && !k.mayResume(c, &x) {
		return session.Session{}, &tool.Failure{Class: tool.NotFound, Text: fmt.Sprintf(
			"there is no session %q of the agent %q that this tool may go on with; leave session_key out to begin a new one", *c.args.Session, k.agent)}
	}
	if err != nil {
		return x, err
	}
	return k.keep(ctx, c, x)
}

// mark returns what a session of the calling one is found by, "" where the call names the session.
func (k *kind) mark(c *call) string {
	switch {
	case k.mode == Persistent:
		return "entry/" + c.Configuration
	case c.args.Session == nil:
		return "call/" + string(c.Event)
	}
	return ""
}

// isOf reports whether a session is the one that a mark stands for.
func isOf(x *session.Session, c *call, mark string) bool {
	return x.Origin != nil && x.Origin.SessionNo == c.SessionNo && x.Origin.Mark == mark
}

// used returns the session that a call has used before; fault.KindNotFound if there is none.
func (k *kind) used(ctx context.Context, c *call, target *agent.Agent) (x session.Session, err error) {
	mark := k.mark(c)
	if mark == "" {
		return k.Sessions.Get(ctx, target.No, *c.args.Session)
	}
	for try := range tries {
		x, err = k.Sessions.Get(ctx, target.No, keyOf(c.SessionNo, mark, try))
		if err != nil || isOf(&x, c, mark) {
			return x, err
		}
	}
	return x, fault.NotFound("session_not_found", "", "there is no session of this call")
}

// mayResume reports whether a call may go on with a session. One that a call in agent_scoped has made is for all sessions of the
// agent, in that mode; any other stays with the session that has made it.
func (k *kind) mayResume(c *call, x *session.Session) bool {
	o := x.Origin
	if o == nil || o.AgentNo != c.AgentNo || o.Kind != SessionScoped && o.Kind != AgentScoped {
		return false
	}
	return o.SessionNo == c.SessionNo || k.mode == AgentScoped && o.Kind == AgentScoped
}

// keep sets how long a session is kept, if the call says so.
func (k *kind) keep(ctx context.Context, c *call, x session.Session) (session.Session, error) {
	if m := c.args.Minutes; m > 0 && m != x.IdleMinutes {
		return k.Sessions.Update(ctx, &x, session.Change{IdleMinutes: opt.Some(m)})
	}
	return x, nil
}

// tries bounds the keys that are tried for a session.
const tries = 20

// made returns the session that a mark of the calling session stands for, and makes it if it is not there. Its key follows from the
// mark, so that calls that meet, or the same one after a kill, mean the same session; a key that a session of others has is passed over.
// there is whether the session may be there already.
func (k *kind) made(ctx context.Context, c *call, target *agent.Agent, mark string, there bool) (x session.Session, fresh bool, err error) {
	origin := session.Origin{AgentNo: c.AgentNo, Agent: c.Agent, SessionNo: c.SessionNo, Session: c.Session, Kind: k.mode, Mark: mark}
	about := fmt.Sprintf("Made by the tool %s of the agent %s in its session %s.", c.Configuration, c.Agent, c.Session)
	draft := session.Draft{
		Name: fmt.Sprintf("%s for %s", c.Configuration, c.Session), Description: &about, Metadata: k.values(c), IdleMinutes: c.args.Minutes, Caller: c.caller(), Origin: &origin,
	}
	for try := 0; try < tries; {
		draft.Key = keyOf(c.SessionNo, mark, try)
		if there {
			x, err = k.Sessions.Get(ctx, target.No, draft.Key)
			switch {
			case err == nil && isOf(&x, c, mark):
				return x, false, nil
			case err == nil:
				try++
				continue
			case !fault.Is(err, fault.KindNotFound):
				return x, false, err
			}
		}
		done, err := c.Intend(ctx, tool.Deed{Operation: "createAgentSession", Target: map[string]string{"agent_key": target.Key, "session_key": draft.Key}})
		if err != nil {
			return x, false, err
		}
		x, err = k.Sessions.Create(ctx, target, draft)
		if done(err); err == nil {
			return x, true, nil
		}
		if f, ok := fault.As(err); !ok || f.Code != "session_exists" {
			return x, false, err
		}
		there = true
	}
	return x, false, err
}

// keyOf returns the key of the session that a mark stands for in the calling session.
func keyOf(caller int64, mark string, try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "sub_agent %d %s %d", caller, mark, try))
	return "ase_" + hex.EncodeToString(sum[:12])
}

// values returns the metadata of a new session.
func (k *kind) values(c *call) json.RawMessage {
	known := map[string]reference.Value{}
	for _, r := range k.refs {
		known[r.String()] = reference.Value{Value: c.Eager[place(r)]}
	}
	resolved := reference.Resolution{Fixed: known}
	return jsonvalue.Encode(c.Mask.Value(resolved.Value(k.metadata)))
}
