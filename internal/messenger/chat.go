package messenger

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"quarry/internal/agent/tool"
	"quarry/internal/outbound"
	"quarry/internal/outbound/exchange"
	"quarry/internal/provider/google"
)

// ChatURL is where the API of Google Chat is, and chatScope what an app of it asks for.
const (
	ChatURL   = "https://chat.googleapis.com"
	chatScope = "https://www.googleapis.com/auth/chat.bot"
)

// Chat sends direct messages by Google Chat. It is safe for concurrent use.
type Chat struct {
	client *http.Client
	home   *http.Client // for tokens: an assertion stays at the origin of its endpoint
	at     string
}

// NewChat returns a sender to the API at an address, through a client of package outbound.
func NewChat(client *http.Client, address string) *Chat {
	return &Chat{client, outbound.Home(client), address}
}

// Send sends a text to a user with the key of a service account.
func (c *Chat) Send(ctx context.Context, key, user, text string) (unreachable string, err error) {
	token, err := c.token(ctx, key)
	if err != nil {
		return "", err
	}
	header := map[string]string{"Authorization": "Bearer " + token}
	var space struct {
		Name string `json:"name"`
	}
	name := "users/" + strings.TrimPrefix(user, "users/")
	status, err := exchange.Do(ctx, c.client, exchange.Call{
		Method: http.MethodGet, URL: c.at + "/v1/spaces:findDirectMessage?" + url.Values{"name": {name}}.Encode(), Header: header,
	}, &space)
	switch {
	case status == http.StatusNotFound:
		return "the app has no conversation with this user: they have to add it in Google Chat first", nil
	case status == http.StatusBadRequest, status == http.StatusForbidden:
		return "there is no such user, or the app may not write to them", nil
	}
	if err := failed("Google Chat", status, err); err != nil {
		return "", err
	}
	if id, ok := strings.CutPrefix(space.Name, "spaces/"); !ok || id == "" || strings.ContainsAny(id, "/?#.% ") {
		return "", failure(tool.ExecutionError, "Google Chat can't be understood: its answer names no conversation")
	}
	var sent struct{}
	status, err = exchange.Do(ctx, c.client, exchange.Call{
		Method: http.MethodPost, URL: c.at + "/v1/" + space.Name + "/messages", Header: header, Body: map[string]string{"text": text},
	}, &sent)
	if status == http.StatusForbidden || status == http.StatusNotFound {
		return "the user takes no messages of the app", nil
	}
	return "", failed("Google Chat", status, err)
}

// token returns an access token for a service account.
func (c *Chat) token(ctx context.Context, keyJSON string) (string, error) {
	key, err := google.Parse(keyJSON)
	if err != nil {
		return "", failure(tool.InvalidConfiguration, "the key of the connector is none of a service account")
	}
	assertion, err := key.Assertion(time.Now(), chatScope)
	if err != nil {
		return "", err
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	status, err := exchange.Do(ctx, c.home, exchange.Call{
		Method: http.MethodPost, URL: key.TokenURI,
		Form: url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}},
	}, &answer)
	switch {
	case status == http.StatusBadRequest:
		return "", failure(tool.InvalidConfiguration, "Google refuses the key of the connector")
	case err == nil && status == http.StatusOK && answer.Token == "":
		return "", failure(tool.ExecutionError, "Google has given no access token")
	}
	return answer.Token, failed("Google", status, err)
}
