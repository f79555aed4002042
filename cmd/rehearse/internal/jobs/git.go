package jobs

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/spf13/pflag"
	"k8s.io/api/core/v1"
)

// repository is the Git repository with the files that the shards read.
type repository struct{ url, ref, image string }

// The repository's place in a pod. Git creates the folder itself, so that its user owns it: git does not work in a
// folder of another user.
const (
	gitVolume = "repository"
	gitMount  = "/repository"
	gitFolder = gitMount + "/files"
)

func (r *repository) add(set *pflag.FlagSet) {
	set.StringVar(&r.url, "git", "", "repository with the files that the command reads: https://...")
	set.StringVar(&r.ref, "ref", "", "with --git: the tag, the commit or the branch that each pod fetches")
	set.StringVar(&r.image, "git-image", "", "with --git: image that has git")
}

// references matches tags, commits and branches as git takes them, without unusual characters.
var references = regexp.MustCompile(`^[0-9A-Za-z_][0-9A-Za-z_./+-]*$`)

func (r *repository) check() error {
	if r.url == "" {
		if r.ref != "" || r.image != "" {
			return errors.New("--ref and --git-image are for --git")
		}
		return nil
	}
	switch at, err := url.Parse(r.url); {
	case err != nil || at.Scheme != "https" || at.Host == "":
		return fmt.Errorf("--git %s: want https://HOST/PATH", r.url)
	case at.User != nil:
		return errors.New("--git: omit the user and the password: everyone who can read the Job could read them")
	case !references.MatchString(r.ref):
		return fmt.Errorf("--ref %q: name the tag, the commit or the branch that the pods fetch; a tag or a commit is the "+
			"same for all of them", r.ref)
	case r.image == "":
		return errors.New("--git-image: name an image that contains git; the image of rehearse has none")
	}
	return nil
}

// containers fetch the reference. Each runs one git command, without a shell.
func (r *repository) containers(resources v1.ResourceRequirements) []v1.Container {
	var all []v1.Container
	for _, step := range []struct {
		name string
		args []string
	}{
		{"git-init", []string{"git", "init", "--quiet", gitFolder}},
		{"git-fetch", []string{
			"git", "-C", gitFolder, "fetch", "--quiet", "--depth=1", "--no-tags", "--", r.url, r.ref,
		}},
		{"git-checkout", []string{"git", "-C", gitFolder, "checkout", "--quiet", "--detach", "FETCH_HEAD"}},
	} {
		all = append(all, v1.Container{
			Name: step.name, Image: r.image, ImagePullPolicy: v1.PullIfNotPresent, Command: escaped(step.args),
			Resources: resources,
			Env: []v1.EnvVar{
				{Name: "HOME", Value: "/tmp"},
				{Name: "GIT_TERMINAL_PROMPT", Value: "0"},
				{Name: "GIT_ALLOW_PROTOCOL", Value: "https"},
			},
			VolumeMounts:    []v1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}, {Name: gitVolume, MountPath: gitMount}},
			SecurityContext: restricted(),
		})
	}
	return all
}
