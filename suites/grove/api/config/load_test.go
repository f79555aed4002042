package config

import (
	"strings"
	"testing"
)

var supported = []string{KAIScheduler, DefaultScheduler}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name, text string
		upstream   bool
		// want is the default scheduler; rejected is a part of the error.
		want, rejected string
	}{
		{name: "nothing", text: "", want: DefaultScheduler},
		{name: "no profiles", text: "scheduler: {profiles: []}", want: DefaultScheduler},
		{name: "kube", text: "scheduler: {profiles: [{name: kube-scheduler, default: true}]}", want: DefaultScheduler},
		{
			name: "kube by the pods' name", text: "scheduler: {profiles: [{name: default-scheduler, default: true}]}",
			want: DefaultScheduler,
		},
		{name: "kube with options", text: "scheduler: {profiles: [{name: kube-scheduler, config: {gangScheduling: true}, " +
			"default: true}]}", want: DefaultScheduler},
		{name: "both, kube by default", text: "scheduler: {profiles: [{name: kube-scheduler, default: true}, {name: " +
			"kai-scheduler}]}", want: DefaultScheduler},
		{name: "kai", text: "scheduler: {profiles: [{name: kai-scheduler, config: {}, default: true}]}", want: KAIScheduler},
		{name: "kai, not by default", text: "scheduler: {profiles: [{name: kai-scheduler}]}", want: DefaultScheduler},
		{
			name: "two defaults", text: "scheduler: {profiles: [{name: kube-scheduler, default: true}, {name: kai-scheduler, " +
				"default: true}]}",
			rejected: `scheduler.profiles: Invalid value: ["kube-scheduler","kai-scheduler"]: only one profile can have default: true`,
		},
		{
			name: "no name", text: "scheduler: {profiles: [{default: true}]}",
			rejected: "scheduler.profiles[0].name: Required value: scheduler profile name is required",
		},
		{
			name: "unknown", text: "scheduler: {profiles: [{name: kai-scheduler}, {name: volcano}]}",
			rejected: `scheduler.profiles[1].name: Unsupported value: "volcano": supported values: "default-scheduler", "kai-scheduler", "kube-scheduler"`,
		},
		{
			name: "twice", text: "scheduler: {profiles: [{name: kai-scheduler}, {name: kai-scheduler}]}",
			rejected: `scheduler.profiles[1].name: Duplicate value: "kai-scheduler"`,
		},
		{
			name: "twice by both names", text: "scheduler: {profiles: [{name: kube-scheduler}, {name: default-scheduler}]}",
			rejected: `scheduler.profiles[1].name: Duplicate value: "default-scheduler"`,
		},
		{
			name: "upstream's field", text: "scheduler: {defaultProfileName: kai-scheduler, profiles: [{name: kai-scheduler}]}",
			rejected: `unknown field "scheduler.defaultProfileName"`,
		},
		{name: "unknown field", text: "scheduler: {profilez: []}", rejected: "profilez"},
		{name: "upstream, by name", upstream: true, text: "scheduler: {defaultProfileName: kai-scheduler, profiles: " +
			"[{name: kai-scheduler}]}", want: KAIScheduler},
		{
			name: "upstream, default: true", upstream: true,
			text: "scheduler: {profiles: [{name: kai-scheduler, default: true}]}", want: DefaultScheduler,
		},
		{
			name: "upstream, no such profile", upstream: true,
			text:     "scheduler: {defaultProfileName: kai-scheduler, profiles: [{name: default-scheduler}]}",
			rejected: `scheduler.defaultProfileName: Invalid value: "kai-scheduler": default profile must be one of the configured profiles`,
		},
		{
			name: "upstream, no profiles", upstream: true, text: "scheduler: {defaultProfileName: kai-scheduler}",
			want: DefaultScheduler,
		},
		{
			name: "upstream, kube-scheduler", upstream: true, text: "scheduler: {profiles: [{name: kube-scheduler}]}",
			rejected: `Unsupported value: "kube-scheduler"`,
		},
		{
			name: "upstream, unknown field", upstream: true, text: "scheduler: {profilez: [{name: kai-scheduler}]}",
			want: DefaultScheduler,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Dialect{Supported: supported, Upstream: c.upstream}.Load([]byte(c.text))
			switch {
			case c.rejected != "" && (err == nil || !strings.Contains(err.Error(), c.rejected)):
				t.Errorf("error %v, want one with %q", err, c.rejected)
			case c.rejected == "" && err != nil:
				t.Errorf("error %v", err)
			case c.rejected == "" && got.Scheduler.DefaultProfileName != c.want:
				t.Errorf("the default is %q, want %q", got.Scheduler.DefaultProfileName, c.want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	type options struct {
		GangScheduling bool `json:"gangScheduling,omitempty"`
	}
	for _, c := range []struct {
		name, config string
		want, wrong  bool
	}{
		{name: "none"},
		{name: "null", config: "config: null"},
		{name: "empty", config: "config: {}"},
		{name: "on", config: "config: {gangScheduling: true}", want: true},
		{name: "off", config: "config: {gangScheduling: false}"},
		{name: "a word", config: `config: {gangScheduling: "yes"}`, wrong: true},
		{name: "a text", config: "config: text", wrong: true},
		{name: "unknown", config: "config: {gangs: true}", wrong: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "scheduler:\n  profiles:\n  - name: kube-scheduler\n    " + c.config + "\n"
			loaded, err := Dialect{Supported: supported}.Load([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var got options
			if err := loaded.Scheduler.Profiles[0].Decode(&got); (err != nil) != c.wrong {
				t.Errorf("error %v, want one: %t", err, c.wrong)
			}
			if got.GangScheduling != c.want {
				t.Errorf("gangScheduling is %t", got.GangScheduling)
			}
		})
	}
}
