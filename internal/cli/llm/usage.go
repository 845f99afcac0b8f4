package llm

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"quarry/internal/cli/command"
)

type usageCmd struct {
	command.Remote
	Name string `arg:"" optional:"" help:"Name or id of the language model; default: the one that answers where none is named." wire:"llm_id"`
}

func (usageCmd) Help() string {
	return "Shows each quota of the model: its limit, what is used in the current window, and how long until it begins anew. Quotas are set " +
		"by updateLLM, which has no command. requests_per_second is what the node that answers has let through.\n\n" +
		"Example: quarry llm usage local-chat"
}

// quotas are the names of all quotas, in the order in which they are shown.
var quotas = []string{
	"requests_per_second", "input_tokens_per_minute", "input_tokens_per_day", "input_tokens_per_month",
	"output_tokens_per_minute", "output_tokens_per_day", "output_tokens_per_month",
}

// usageView is what a model has used.
type usageView struct {
	Name   string               `json:"name"`
	At     time.Time            `json:"at"`
	Quotas map[string]quotaView `json:"quotas"`
}

type quotaView struct {
	Limit *int64    `json:"limit"`
	Used  *int64    `json:"used"`
	End   time.Time `json:"window_end"`
}

func (c *usageCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	ref := c.Name
	if ref == "" {
		m, err := command.Find(e.Ctx, cl, "llms", func(v *view) bool { return v.Default })
		if err != nil {
			return err
		}
		if m == nil {
			return command.Failed(command.ExitSomeFailed, "the service lists no default language model; name one")
		}
		ref = m.ID
	}
	_, err = command.Send(e, c.Remote, http.MethodGet, models+"/"+command.Segment(ref)+"/usage", nil, func(v *usageView) {
		switch {
		case c.Name == "":
			fmt.Fprintf(e.Err, "%s answers where no model is named\n", command.Prose(v.Name))
		case c.Name != v.Name && !strings.HasPrefix(c.Name, "llm_"):
			fmt.Fprintf(e.Err, "%s is an alias here: %s answers\n", c.Name, command.Prose(v.Name))
		}
		rows := make([][]string, len(quotas))
		for i, name := range quotas {
			q := v.Quotas[name]
			rows[i] = []string{name, q.used(), q.limit(), q.share(), q.left(v.At)}
		}
		command.Table(e.Out, []string{"QUOTA", "USED", "LIMIT", "SHARE", "RESETS IN"}, rows)
	})
	return err
}

func (q quotaView) used() string {
	if q.Used == nil {
		return "not counted"
	}
	return strconv.FormatInt(*q.Used, 10)
}

func (q quotaView) limit() string {
	if q.Limit == nil {
		return "unlimited"
	}
	return strconv.FormatInt(*q.Limit, 10)
}

// share returns how much of the limit is used, as a bar and in percent.
func (q quotaView) share() string {
	if q.Limit == nil || q.Used == nil || *q.Limit < 1 {
		return ""
	}
	const width = 10
	part := float64(*q.Used) / float64(*q.Limit)
	filled := int(min(width*part, width))
	return fmt.Sprintf("%s%s %.0f%%", strings.Repeat("█", filled), strings.Repeat("░", width-filled), 100*part)
}

// left returns how long the window still lasts, by the clock of the service.
func (q quotaView) left(at time.Time) string {
	left := q.End.Sub(at)
	switch {
	case left <= 0, q.Used == nil:
		return ""
	case left < time.Second:
		return left.Round(time.Millisecond).String()
	case left < time.Hour:
		return left.Round(time.Second).String()
	}
	hours := int(left.Round(time.Hour).Hours())
	if hours < 48 {
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dd", hours/24)
}
