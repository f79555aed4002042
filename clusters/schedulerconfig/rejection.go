package schedulerconfig

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	commandFailed = regexp.MustCompile(`"command failed" err=("(?:[^"\\]|\\.)*")`)
	profilePath   = regexp.MustCompile(`\.?\bprofiles\[`)
	profileNamed  = regexp.MustCompile(`^(?:initializing profiles: )?creating profile for scheduler name ([^:]+): `)
)

// reasonIn returns the reason why a component ended: the last error in its output, or otherwise the whole output.
func reasonIn(output string) string {
	all := commandFailed.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return strings.TrimSpace(output)
	}
	quoted := all[len(all)-1][1]
	if reason, err := strconv.Unquote(quoted); err == nil {
		return reason
	}
	return quoted
}

// rejection returns a kube-scheduler's reason as an error for the user, with the path of the profiles in the state.
func (q question) rejection(reason string) error {
	reason = strings.ReplaceAll(reason, "strict decoding error: ", "")
	if named := profileNamed.FindStringSubmatch(reason); named != nil {
		reason = q.pathOf(named[1]) + ": " + strings.TrimPrefix(reason, named[0])
	}
	reason = profilePath.ReplaceAllLiteralString(reason, q.path+"[")
	return fmt.Errorf("kube-scheduler of Kubernetes %s rejects its profiles:  %s", q.state.VersionOf(q.component), reason)
}

// pathOf returns the path of the profile with that schedulerName.
func (q question) pathOf(name string) string {
	for i, profile := range q.profiles {
		if profile["schedulerName"] == name {
			return fmt.Sprintf("profiles[%d] (%s)", i, name)
		}
	}
	return "the profile " + name
}
