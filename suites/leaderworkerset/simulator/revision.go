package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// revision determines the pods of a group. All pods of a group have the same revision, even if the LeaderWorkerSet has
// changed since.
type revision struct {
	Template api.LeaderWorkerTemplate `json:"template"`
	// Policy is never empty. An object from before the field existed has the same revision as one with the policy Shared.
	Policy api.SubdomainPolicy `json:"subdomainPolicy,omitempty"`
	// Writes is set only by a fault.
	Writes string `json:"writes,omitempty"`

	hash   string
	number int64
}

// revisions stores each revision of a LeaderWorkerSet as a ControllerRevision.
type revisions struct {
	client    client.Client
	behaviour behaviour
}

// in returns the revisions for the objects of a namespace.
func (r *revisions) in(namespace string) *revisions {
	return &revisions{r.client, r.behaviour.in(namespace)}
}

// wanted returns the current revision of a LeaderWorkerSet, and the data to store.
func (r *revisions) wanted(set *api.LeaderWorkerSet) (*revision, []byte, error) {
	template := set.Spec.LeaderWorkerTemplate.DeepCopy()
	template.RestartPolicy = "" // a change of it needs no new pods
	made := &revision{Template: *template, Policy: set.SubdomainPolicy()}
	if r.behaviour.Has(faultEveryPolicyWriteRolls) {
		made.Writes = set.Annotations[annotationPolicyWrites]
	}
	if r.behaviour.Has(faultStartIsARevision) {
		made.Writes = started
	}
	data, err := json.Marshal(made)
	if err != nil {
		return nil, nil, fmt.Errorf("write the revision of %s: %w", set.Name, err)
	}
	hashed := *made
	unset := set.Spec.NetworkConfig == nil || set.Spec.NetworkConfig.SubdomainPolicy == nil
	if r.behaviour.Has(faultPolicyNotInRevision) || r.behaviour.Has(faultUnsetPolicyIsARevision) && unset {
		hashed.Policy = ""
	}
	identity, err := json.Marshal(hashed)
	if err != nil {
		return nil, nil, fmt.Errorf("write the revision of %s: %w", set.Name, err)
	}
	hash := fnv.New64a()
	hash.Write(identity)
	made.hash = rand.SafeEncodeString(strconv.FormatUint(hash.Sum64(), 10))
	return made, data, nil
}

// ensure stores the current revision of a LeaderWorkerSet, and returns it.
func (r *revisions) ensure(ctx context.Context, set *api.LeaderWorkerSet) (*revision, error) {
	made, data, err := r.wanted(set)
	if err != nil {
		return nil, err
	}
	stored, err := r.list(ctx, set)
	if err != nil {
		return nil, err
	}
	newest := int64(0)
	for _, s := range stored {
		newest = max(newest, s.Revision)
	}
	numbered := r.behaviour.Liberties.Has(libertyNumbered)
	for _, s := range stored {
		hash := s.Labels[api.LabelRevision]
		if content, _, _ := strings.Cut(hash, "-"); content == made.hash && (!numbered || s.Revision == newest) {
			made.hash, made.number = hash, s.Revision
			return made, nil
		}
	}
	made.number = newest + 1
	if r.behaviour.Liberties.Takes(libertyNumbered) {
		made.hash += "-" + strconv.FormatInt(made.number, 10)
	}
	object := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name + "-" + made.hash, Namespace: set.Namespace,
			Labels:          map[string]string{api.LabelName: set.Name, api.LabelRevision: made.hash},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, api.GroupVersion.WithKind(api.Kind))},
		},
		Revision: made.number,
		Data:     runtime.RawExtension{Raw: data},
	}
	if err := r.client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("store revision %s: %w", object.Name, err)
	}
	return made, nil
}

// named returns the stored revision with a hash.
func (r *revisions) named(ctx context.Context, namespace, set, hash string) (*revision, error) {
	var stored appsv1.ControllerRevision
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: set + "-" + hash}, &stored); err != nil {
		return nil, fmt.Errorf("read revision %s of %s: %w", hash, set, err)
	}
	return readRevision(&stored)
}

func readRevision(stored *appsv1.ControllerRevision) (*revision, error) {
	found := &revision{hash: stored.Labels[api.LabelRevision], number: stored.Revision}
	if err := json.Unmarshal(stored.Data.Raw, found); err != nil {
		return nil, fmt.Errorf("read revision %s: %w", stored.Name, err)
	}
	return found, nil
}

// prune deletes all revisions except one.
func (r *revisions) prune(ctx context.Context, set *api.LeaderWorkerSet, keep string) error {
	stored, err := r.list(ctx, set)
	if err != nil {
		return err
	}
	for i := range stored {
		if stored[i].Labels[api.LabelRevision] == keep {
			continue
		}
		if err := client.IgnoreNotFound(r.client.Delete(ctx, &stored[i])); err != nil {
			return fmt.Errorf("delete revision %s: %w", stored[i].Name, err)
		}
	}
	return nil
}

func (r *revisions) list(ctx context.Context, set *api.LeaderWorkerSet) ([]appsv1.ControllerRevision, error) {
	var all appsv1.ControllerRevisionList
	if err := r.client.List(ctx, &all, client.InNamespace(set.Namespace),
		client.MatchingLabels{api.LabelName: set.Name}); err != nil {
		return nil, fmt.Errorf("list the revisions of %s: %w", set.Name, err)
	}
	own := all.Items[:0]
	for _, object := range all.Items {
		if metav1.IsControlledBy(&object, set) {
			own = append(own, object)
		}
	}
	return own, nil
}
