// Package jobs runs the shards of a run as the pods of an Indexed Job, and collects their results.
package jobs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// settings are the input for the Job.
type settings struct {
	image, name, namespace   string
	completions, parallelism int32
	cpu, cpuLimit, memory    string
	// remains is how long the Job remains on the cluster after its end.
	remains time.Duration
	// command is what each shard runs: run, with its arguments.
	command []string
	// files is the archive of what the command reads; nil if the image or a Git repository contains it.
	files []byte
	// git is the repository with the files, if they are in one.
	git repository
	// claim is the PersistentVolumeClaim that also gets the reports; "" for none.
	claim string
}

// Names and places in a pod.
const (
	containerName = "rehearse"
	filesMount    = "/files"
	filesName     = "files.tar.gz"
	resultsMount  = "/results"
	uidVariable   = "JOB_UID"
	// user is the one of the image. The pod sets its number, so that a policy can see that it is not root.
	user = 65532
	// The measured need of a shard with one cluster, and some more (docs/ci.md).
	defaultCPU, defaultMemory = "1", "2Gi"
	// longest is how long a Job may run, so that a Job that nobody watches ends.
	longest = 24 * time.Hour
	// A Job that nobody gathers remains for a day, so that its logs can be read. Otherwise it remains only if
	// rehearse was killed.
	remainsPrinted, remainsApplied = 24 * time.Hour, time.Hour
)

// objects are the ConfigMap with the files, if there are any, and the Job.
func (s *settings) objects() ([]runtime.Object, error) {
	job, err := s.job()
	if err != nil {
		return nil, err
	}
	if s.files == nil {
		return []runtime.Object{job}, nil
	}
	return []runtime.Object{s.configMap(), job}, nil
}

func (s *settings) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: s.name, Namespace: s.namespace,
		Labels: map[string]string{"app.kubernetes.io/name": "rehearse", "app.kubernetes.io/instance": s.name},
	}
}

func (s *settings) configMap() *v1.ConfigMap {
	return &v1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: s.meta(),
		BinaryData: map[string][]byte{filesName: s.files}, Immutable: ptr.To(true),
	}
}

func (s *settings) job() (*batchv1.Job, error) {
	pod, err := s.pod()
	if err != nil {
		return nil, err
	}
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: s.meta(),
		Spec: batchv1.JobSpec{
			CompletionMode: ptr.To(batchv1.IndexedCompletion),
			Completions:    ptr.To(s.completions), Parallelism: ptr.To(s.parallelism),
			// A shard that could not judge is retried once.
			BackoffLimitPerIndex:    ptr.To[int32](1),
			PodReplacementPolicy:    ptr.To(batchv1.Failed), // Kubernetes allows no other with a failure policy
			PodFailurePolicy:        failurePolicy(),
			ActiveDeadlineSeconds:   ptr.To(int64(longest.Seconds())),
			TTLSecondsAfterFinished: ptr.To(int32(s.remains.Seconds())),
			Template:                v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: s.meta().Labels}, Spec: *pod},
		},
	}, nil
}

// failurePolicy handles the exit codes of rehearse run. A verdict is not retried. An interrupted run is retried and
// not counted. The rest counts as a retry: 3, a shard that could not judge, and what killed the container.
func failurePolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: v1.DisruptionTarget, Status: v1.ConditionTrue},
			},
		},
		{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{cli.ExitInterrupted},
			},
		},
		{
			Action: batchv1.PodFailurePolicyActionFailIndex,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{cli.ExitFailed, cli.ExitInput},
			},
		},
	}}
}

// pod satisfies the restricted Pod Security Standard.
func (s *settings) pod() (*v1.PodSpec, error) {
	resources, err := s.resources()
	if err != nil {
		return nil, err
	}
	args := []string{"job", "shard", "--of", strconv.Itoa(int(s.completions))}
	mounts := []v1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}}
	volumes := []v1.Volume{{Name: "tmp", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
	if s.files != nil {
		args = append(args, "--files", filesMount+"/"+filesName)
		mounts = append(mounts, v1.VolumeMount{Name: "files", MountPath: filesMount, ReadOnly: true})
		volumes = append(volumes, v1.Volume{Name: "files", VolumeSource: v1.VolumeSource{
			ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: s.name}},
		}})
	}
	var env []v1.EnvVar
	if s.claim != "" {
		env = []v1.EnvVar{uidOfJob()}
		args = append(args, "--results", resultsMount+"/"+s.name+"-$("+uidVariable+")")
		mounts = append(mounts, v1.VolumeMount{Name: "results", MountPath: resultsMount})
		volumes = append(volumes, v1.Volume{Name: "results", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: s.claim},
		}})
	}
	folder, fetching := "", []v1.Container(nil)
	if s.git.url != "" {
		folder, fetching = gitFolder, s.git.containers(resources)
		mounts = append(mounts, v1.VolumeMount{Name: gitVolume, MountPath: gitMount, ReadOnly: true})
		volumes = append(volumes, v1.Volume{
			Name: gitVolume, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}},
		})
	}
	return &v1.PodSpec{
		RestartPolicy:                v1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		// An interrupted run ends its clusters' processes, which takes seconds.
		TerminationGracePeriodSeconds: ptr.To[int64](30),
		SecurityContext: &v1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](user), RunAsGroup: ptr.To[int64](user),
			FSGroup: ptr.To[int64](user), SeccompProfile: &v1.SeccompProfile{Type: v1.SeccompProfileTypeRuntimeDefault},
		},
		// Shards compete for processors, so they spread over the nodes if possible.
		TopologySpreadConstraints: []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: s.meta().Labels},
		}},
		InitContainers: fetching,
		Containers: []v1.Container{{
			Name: containerName, Image: s.image, ImagePullPolicy: v1.PullIfNotPresent, WorkingDir: folder,
			Args: append(append(args, "--"), escaped(s.command)...), Resources: resources, VolumeMounts: mounts,
			SecurityContext: restricted(), Env: env,
		}},
		Volumes: volumes,
	}, nil
}

// escaped returns arguments that reach the program unchanged: kubelet replaces $(NAME) by the variable NAME, and $$ by
// one $.
func escaped(args []string) []string {
	all := make([]string, len(args))
	for i, arg := range args {
		all[i] = strings.ReplaceAll(arg, "$", "$$")
	}
	return all
}

// uidOfJob distinguishes the reports of this Job from those of an earlier Job with its name.
func uidOfJob() v1.EnvVar {
	return v1.EnvVar{Name: uidVariable, ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{
		APIVersion: "v1", FieldPath: "metadata.labels['" + batchv1.ControllerUidLabel + "']",
	}}}
}

// restricted is the security context of each container.
func restricted() *v1.SecurityContext {
	return &v1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
		Capabilities: &v1.Capabilities{Drop: []v1.Capability{"ALL"}},
	}
}

// resources sets no limit of processors by default, so that a shard may use idle ones. The memory limit equals the
// request, because a run derives its number of clusters from the limit.
func (s *settings) resources() (v1.ResourceRequirements, error) {
	var wanted v1.ResourceRequirements
	cpu, err := resource.ParseQuantity(s.cpu)
	if err != nil {
		return wanted, fmt.Errorf("--cpu %s: %w", s.cpu, err)
	}
	memory, err := resource.ParseQuantity(s.memory)
	if err != nil {
		return wanted, fmt.Errorf("--memory %s: %w", s.memory, err)
	}
	wanted.Requests = v1.ResourceList{v1.ResourceCPU: cpu, v1.ResourceMemory: memory}
	wanted.Limits = v1.ResourceList{v1.ResourceMemory: memory}
	if s.cpuLimit != "" {
		limit, err := resource.ParseQuantity(s.cpuLimit)
		if err != nil {
			return wanted, fmt.Errorf("--cpu-limit %s: %w", s.cpuLimit, err)
		}
		if limit.Cmp(cpu) < 0 {
			return wanted, fmt.Errorf("--cpu-limit %s is less than the request, --cpu %s", s.cpuLimit, s.cpu)
		}
		wanted.Limits[v1.ResourceCPU] = limit
	}
	return wanted, nil
}
