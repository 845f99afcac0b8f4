// Package messenger sends messages to people by Slack and Google Chat, for the tools of agents.
package messenger

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"quarry/internal/agent/tool"
	"quarry/internal/outbound/exchange"
)

// SlackURL is where Slack's Web API is.
const SlackURL = "https://slack.com/api"

// Slack posts messages to channels. It is safe for concurrent use.
type Slack struct {
	client *http.Client
	at     string
}

// NewSlack returns a sender to the API at an address, through a client of package outbound.
func NewSlack(client *http.Client, address string) *Slack { return &Slack{client, address} }

// refusals are the errors of Slack that are not about the recipient: whether it refuses the token, or can't answer now.
var refusals = map[string]bool{
	"invalid_auth": true, "not_authed": true, "account_inactive": true, "token_revoked": true, "token_expired": true, "missing_scope": true,
	"no_permission": true, "org_login_required": true, "ekm_access_denied": true, "access_denied": true, "not_allowed_token_type": true,
	"ratelimited": false, "rate_limited": false, "internal_error": false, "fatal_error": false, "service_unavailable": false, "request_timeout": false,
	"team_added_to_org": false,
}

// Send posts a text with the token of a bot.
func (s *Slack) Send(ctx context.Context, token, channel, text string) (unreachable string, err error) {
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	status, err := exchange.Do(ctx, s.client, exchange.Call{
		Method: http.MethodPost, URL: s.at + "/chat.postMessage", Header: map[string]string{"Authorization": "Bearer " + token},
		Body: map[string]string{"channel": channel, "text": text},
	}, &answer)
	if err := failed("Slack", status, err); err != nil {
		return "", err
	}
	credential, known := refusals[answer.Error]
	switch {
	case answer.OK:
		return "", nil
	case !code(answer.Error):
		return "", failure(tool.ExecutionError, "Slack has refused the message without a reason")
	case known && credential:
		return "", failure(tool.InvalidConfiguration, "Slack refuses the token of the connector: %s", answer.Error)
	case known:
		return "", failure(tool.ExecutionError, "Slack takes no messages for now: %s", answer.Error)
	}
	return answer.Error, nil
}

// code reports whether s is an error code, which repeats nothing that was sent.
func code(s string) bool {
	if s == "" || len(s) > 60 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' {
			return false
		}
	}
	return true
}

// failed returns the failure of a call that was not answered as it should be, nil for one that was.
func failed(service string, status int, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case err != nil && status == 0:
		return failure(tool.ExecutionError, "%s can't be reached: %s", service, err)
	case status == http.StatusUnauthorized:
		return failure(tool.InvalidConfiguration, "%s refuses the credential of the connector (status %d)", service, status)
	case status < 200 || status > 299:
		return failure(tool.ExecutionError, "%s has failed (status %d)", service, status)
	case err != nil:
		return failure(tool.ExecutionError, "%s can't be understood: %s", service, err)
	}
	return nil
}

func failure(class tool.Class, format string, args ...any) error {
	return &tool.Failure{Class: class, Text: fmt.Sprintf(format, args...)}
}
