package traces

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/store"
	"quarry/internal/trace"
)

// head is what the marks of a trace are made of beside its spans. Texts are as the columns have them.
type head struct {
	no, started int64 // microseconds since 1970
	duration    time.Duration
	agent       trace.Subject
	session     string
	failed      bool
}

// every is the mark of all traces.
const every = "all"

// marks returns the marks of a trace, each once.
func marks(h head, s sum) []string {
	all := []string{every, agentMark(h.agent.Key, h.agent.No), sessionMark(h.session), kindMark(s.flags | statusFlag(h.failed)), durationMark(h.duration.Milliseconds())}
	for _, c := range trace.Classes {
		if s.flags&classFlag(c) != 0 {
			all = append(all, classMark(c))
		}
	}
	for _, t := range s.tools {
		all = append(all, toolMark(t))
	}
	for _, c := range trace.ToolClasses {
		if s.flags&toolClassFlag(c) != 0 {
			all = append(all, toolClassMark(c))
		}
	}
	return all
}

// kindFolder begins the marks of kinds: of traces with the same status and the same operations. There are few, so that one row finds a trace
// by any of these.
const kindFolder = "kind/"

func kindMark(flags int64) string { return kindFolder + strconv.FormatInt(flags&(1<<classBits-1), 10) }

func classMark(c trace.Class) string     { return "error/" + string(c) }
func toolClassMark(c trace.Class) string { return "tool_error/" + string(c) }
func sessionMark(key string) string      { return "session/" + strings.ReplaceAll(key, "\n", " ") }
func toolMark(name string) string        { return "tool/" + toolName(name) }

// toolName returns the name of a tool as columns have it, many in one a line each.
func toolName(name string) string { return strings.ReplaceAll(store.Text(name), "\n", " ") }

// agentFolder begins the marks of the agents that have had a key, one after the other.
func agentFolder(key string) string { return "agent/" + key + "/" }

func agentMark(key string, no int64) string { return agentFolder(key) + strconv.FormatInt(no, 10) }

// durationFolder begins the marks of durations.
const durationFolder = "duration/"

// durationMark returns the mark of a duration in milliseconds: a class of durations, four to each doubling, named so that
// longer ones come later.
func durationMark(ms int64) string {
	n := uint64(max(ms, 0))
	class := n
	if n >= 4 {
		log := bits.Len64(n) - 1
		class = uint64(log)*4 + n>>(log-2)&3 - 4
	}
	return fmt.Sprintf("%s%03d", durationFolder, class)
}

func statusFlag(failed bool) int64 {
	if failed {
		return 1 << 1
	}
	return 1 << 0
}

// Where the bits of flags begin, in the order of the contract's words, behind those of the status.
const (
	operationBits = 2
	classBits     = operationBits + 16
	toolClassBits = classBits + 16
)

func operationFlag(o trace.Operation) int64 { return flag(trace.Operations, o, operationBits) }
func classFlag(c trace.Class) int64         { return flag(trace.Classes, c, classBits) }
func toolClassFlag(c trace.Class) int64     { return flag(trace.ToolClasses, c, toolClassBits) }

// flag returns the bit of one among all, 0 for what is not among them.
func flag[T comparable](all []T, one T, from int) int64 {
	i := slices.Index(all, one)
	if i < 0 {
		return 0
	}
	return 1 << (from + i)
}
