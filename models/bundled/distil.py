#!/usr/bin/env python3
"""Train the student of train.py (3 layers, 384-d, int8 ONNX under 10 MB) on the space of several teachers at once.

    distil.py seqs    --work W --corpus DIR --start DIR [--tokens 6e6] [--longest 254]
    distil.py label   --work W --start DIR --name minilm --onnx FILE                (mean pooling, no prefix)
    distil.py label   --work W --start DIR --name bge    --onnx FILE --pool cls
    distil.py label   --work W --start DIR --name e5     --onnx FILE --prefix "passage: "
    distil.py target  --work W --mix minilm=1 bge=1.2 [e5=.7] [--offset C]
    distil.py train   --work W --start DIR --minutes 120 [--threads 2] [--int8-from .85]
    distil.py export  --work W --start DIR --out DIR

--corpus: folder of *.jsonl.gz, one {"text": ...} a row.
--start:  folder of the model that training starts from: its tokenizer, its files and its weights. RESULTS.md names the
          revision; it is in this repository's history.
--work:   receives seqs.pkl, labels NAME.npy, target.npy, space.npz, checkpoint.pt and student.pt.
--out:    receives config.json, the tokenizer files and onnx/model_quantized.onnx.

Every stage may be stopped and run again: labels go on at the next 2,000 texts, training at the last checkpoint (weights,
optimiser, place in the data, minutes spent). The teachers share BERT's uncased vocabulary, so all read the same token
ids. Run the label stages side by side, one a core (OMP_NUM_THREADS=1). Needs numpy, onnx, onnxscript, onnxruntime,
tokenizers and torch; train.py must lie beside this file or in --start, because its Student is used as it is.

The space: each teacher's unit vectors less their mean over the training texts, made unit again, times the teacher's weight,
side by side; the first 384 principal axes over the training texts; unit again. A rotation (it changes no cosine) then lays
them next to MiniLM's vectors. A student of MiniLM is not far from those, so training starts at a cosine of .81 and not 0.
"""
import argparse, glob, gzip, json, os, pickle, shutil, sys, time
import numpy as np

SHARE = {'wikipedia-mixed': 20, 'squad-train-part': 7, 'nltk-reviews-speeches': 8, 'tech-prose': 11, 'medquad-rest': 15, 'topical-chat': 10,
         'sgd': 5, 'taskmaster': 3, 'multiwoz-like': 2, 'multidogo': 2, 'questions-nq-open': 4, 'questions-wellformedness': 7,
         'assistant-utterances': 4, 'chatterbot-english': .5, 'tldr-pages': 4, 'WORDS': 2}
NEVER_JOINED = ('questions-nq-open', 'questions-wellformedness', 'assistant-utterances')
CLS, SEP, DIM, VOCAB, HELD = 101, 102, 384, 30522, int(os.environ.get("HELD", 1500))
unit = lambda x: x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


# --------------------------------------------------------------------------------------------------------------- seqs
def seqs(a):
    """Token sequences (no special tokens), distinct, in random order, so that any beginning is a fair sample."""
    from tokenizers import Tokenizer
    tok = Tokenizer.from_file(f'{a.start}/tokenizer.json'); tok.no_padding(); tok.no_truncation(); rows, seen = {}, set()
    for p in sorted(glob.glob(f'{a.corpus}/*.jsonl.gz')):
        texts = []
        for line in gzip.open(p, 'rt'):
            t = json.loads(line)['text'].strip()
            if len(t) > 2 and t.lower() not in seen: seen.add(t.lower()); texts.append(t)
        rows[os.path.basename(p)[:-9]] = [np.array(e.ids, np.uint16) for i in range(0, len(texts), 5000)
                                          for e in tok.encode_batch(texts[i:i + 5000], add_special_tokens=False)]
    rng = np.random.default_rng(a.seed + 11); names = [k for k in [*rows, 'WORDS'] if k in SHARE]; total = sum(SHARE[k] for k in names)
    out, seen, words = [], set(), []
    for k in names:
        budget = a.tokens * SHARE[k] / total; order = rng.permutation(len(rows.get(k, []))); at = 0
        while budget > 0:
            if k == 'WORDS':                                        # one to five random words: the whole vocabulary is met
                n = int(rng.integers(1, 6))
                if len(words) < n: words = list(rng.permutation(np.arange(999, VOCAB)))
                x, words = np.array(words[:n], np.uint16), words[n:]
            else:
                if at >= len(order): break
                v = rows[k]; i = order[at]; at += 1; x = v[i]
                if rng.random() < .2 and k not in NEVER_JOINED:     # neighbouring rows as one paragraph
                    goal = rng.choice([32, 64, 128, 220], p=[.35, .35, .2, .1]); x = [x]; n = len(x[0]); j = i + 1
                    while n < goal and j < len(v): x.append(v[j]); n += len(v[j]); j += 1
                    x = np.concatenate(x)
                # the service reads up to 254 tokens whole, longer texts in windows of 64
                if len(x) > 66 and rng.random() < .7: x = x[:int(rng.integers(32, 67))]
                x = x[:a.longest]
            if len(x) == 0 or x.tobytes() in seen: continue
            seen.add(x.tobytes()); out.append(x); budget -= len(x) + 2
    out = [out[i] for i in rng.permutation(len(out))]
    pickle.dump(out, open(f'{a.work}/seqs.pkl', 'wb'), 4); L = np.array([len(x) for x in out])
    print(len(out), 'texts,', L.sum() + 2 * len(L), 'tokens; median', np.median(L), 'longest', L.max())


# -------------------------------------------------------------------------------------------------------------- label
def label(a):
    import onnxruntime as ort
    from tokenizers import Tokenizer
    o = ort.SessionOptions(); o.intra_op_num_threads = o.inter_op_num_threads = 1
    s = ort.InferenceSession(a.onnx, o, providers=['CPUExecutionProvider']); inputs = {i.name for i in s.get_inputs()}; first = [s.get_outputs()[0].name]
    tok = Tokenizer.from_file(f'{a.start}/tokenizer.json'); tok.no_padding(); tok.no_truncation()
    pre = np.array(tok.encode(a.prefix, add_special_tokens=False).ids, np.int64)
    S = pickle.load(open(f'{a.work}/seqs.pkl', 'rb')); path = f'{a.work}/{a.name}'; done = 0
    if os.path.exists(path + '.done'): done = int(open(path + '.done').read()); V = np.lib.format.open_memmap(path + '.npy', mode='r+')
    else: V = np.lib.format.open_memmap(path + '.npy', mode='w+', dtype=np.float16, shape=(len(S), DIM))
    t0 = time.time(); n = 0
    while done < len(S):
        part = S[done:done + 2000]; L = np.array([len(x) for x in part]); order = np.argsort(L, kind='stable'); i = 0
        while i < len(order):                                       # equal lengths together: no padding
            k = max(1, 128 // (L[order[i]] + 2)); j = i
            while j < len(order) and j - i < k and L[order[j]] == L[order[i]]: j += 1
            ids = np.stack([np.concatenate([[CLS], pre, part[t].astype(np.int64), [SEP]])[:512] for t in order[i:j]]); n += ids.size
            feed = {'input_ids': ids, 'attention_mask': np.ones_like(ids)}
            if 'token_type_ids' in inputs: feed['token_type_ids'] = np.zeros_like(ids)
            y = s.run(first, feed)[0]; V[done + order[i:j]] = unit(y[:, 0] if a.pool == 'cls' else y.mean(1)); i = j
        done += len(part); V.flush(); open(path + '.done', 'w').write(str(done))
        print(f'{a.name} {done}/{len(S)} {n / (time.time() - t0):.0f} tokens/s', flush=True)


# ------------------------------------------------------------------------------------------------------------- target
def target(a):
    mix = [x.split('=') for x in a.mix]; names = [m for m, _ in mix]; weights = [float(w) for _, w in mix]
    n = min(int(open(f'{a.work}/{m}.done').read()) for m in {*names, 'minilm'})
    load = lambda m: np.load(f'{a.work}/{m}.npy', mmap_mode='r'); means = [np.mean(load(m)[:min(n, 60000)], 0, dtype=np.float64).astype(np.float32) for m in names]
    def joined(i, j): return unit(np.concatenate([unit(np.asarray(load(m)[i:j], np.float32) - u) * w for m, u, w in zip(names, means, weights)], 1))
    X = joined(0, min(n, 60000)); c = a.offset; k = DIM - (c > 0); u, s, _ = np.linalg.svd(X.T @ X / len(X)); P = u[:, :k]
    def space(x):                                                   # c > 0: one constant axis more; cosines become (cos + c^2) / (1 + c^2)
        y = unit(x @ P); return y if c == 0 else np.concatenate([y, np.full((len(y), 1), c, np.float32)], 1) / np.float32(np.sqrt(1 + c * c))
    A, _, B = np.linalg.svd(space(X).T @ np.asarray(load('minilm')[:len(X)], np.float32), full_matrices=False); R = A @ B
    Y = np.lib.format.open_memmap(f'{a.work}/target.npy', mode='w+', dtype=np.float16, shape=(n, DIM))
    for i in range(0, n, 20000): Y[i:i + 20000] = space(joined(i, min(n, i + 20000))) @ R
    np.savez(f'{a.work}/space.npz', names=names, weights=weights, P=P, R=R, offset=c, **{f'mean_{m}': x for m, x in zip(names, means)})
    print(n, 'targets; variance kept %.3f' % (s[:k].sum() / s.sum()))


# -------------------------------------------------------------------------------------------------------------- train
def started(a):
    """The Student with the weights of --start, read back from its int8 file."""
    import onnx, torch
    from onnx import numpy_helper
    g = onnx.load(f'{a.start}/onnx/model_quantized.onnx').graph; I = {i.name: numpy_helper.to_array(i) for i in g.initializer}
    def value(n): return I[n] if n in I else (I[n + '_quantized'].astype(np.float32) - I[n + '_zero_point'].astype(np.float32)) * I[n + '_scale']
    S = T.Student(); w = S.state_dict(); mats = [n.input[1][:-len('_quantized')] for n in g.node if n.op_type == 'MatMulInteger' and n.input[1] in I]
    names = [f'layers.{l}.{k}.weight' for l in range(3) for k in ('qkv', 'o', 'f1', 'f2')]; assert len(mats) == len(names)
    for k, m in zip(names, mats): w[k] = torch.from_numpy(value(m).T.copy())
    for k in w:
        if k == 'codes': w[k] = torch.from_numpy(next(v for v in I.values() if v.dtype == np.uint8 and v.shape == tuple(w[k].shape)).copy())
        elif k not in names: w[k] = torch.from_numpy(np.array(value('m.' + k)))
    S.load_state_dict(w); return S

def with_ends(S): return [np.concatenate([[CLS], x.astype(np.int64), [SEP]]) for x in S]

def embed(student, ids):
    import torch, torch.nn.functional as F
    out = np.zeros((len(ids), DIM), np.float32); L = np.array([len(x) for x in ids]); o = np.argsort(L, kind='stable')
    with torch.no_grad():
        for i, j in T.groups(L[o], 4096):
            x, mask = T.padded([ids[k] for k in o[i:j]]); m = mask.float()
            out[o[i:j]] = F.normalize(T.mean_pool(student(x, None if bool(mask.all()) else m)[-1], m), dim=-1).numpy()
    return out

def batches(L, rng, tokens):
    """Texts of like length together, about `tokens` a batch, in random order."""
    o = rng.permutation(len(L)); out = []
    for i in range(0, len(o), 16384):
        p = o[i:i + 16384]; p = p[np.argsort(L[p], kind='stable')]; out += [p[x:y] for x, y in T.groups(L[p], int(tokens * rng.uniform(.9, 1.1)))]
    return [out[i] for i in rng.permutation(len(out))]

def train(a):
    """Loss: 3 x squared distance to the target (long texts weigh more) + 2 x squared error of the similarities in the batch.
    The learning rate falls to 0 over --minutes of training, whatever the machine does meanwhile."""
    import torch, torch.nn.functional as F
    torch.set_num_threads(a.threads); torch.manual_seed(a.seed)
    Y = np.load(f'{a.work}/target.npy', mmap_mode='r'); ids = with_ends(pickle.load(open(f'{a.work}/seqs.pkl', 'rb'))[:len(Y)]); L = np.array([len(x) for x in ids])
    S = started(a)
    if a.init: S.load_state_dict(torch.load(a.init))                # a student of the same space, from an earlier run
    mats = [p for k, p in S.named_parameters() if k.startswith('layers') and p.ndim > 1]; chosen = set(map(id, mats))
    opt = torch.optim.AdamW([{'params': mats, 'weight_decay': .01}, {'params': [p for p in S.parameters() if id(p) not in chosen], 'weight_decay': 0.}],
                            lr=a.lr, betas=(.9, .98), eps=1e-8, fused=True)
    step = at = epoch = seen = 0; spent = 0.; path = f'{a.work}/checkpoint.pt'
    if os.path.exists(path):
        c = torch.load(path, weights_only=False); S.load_state_dict(c['model']); opt.load_state_dict(c['opt']); step, spent, seen = c['step'], c['spent'], c['seen']; print('goes on at step', step)
    t0 = time.time() - spent; minutes = lambda: (time.time() - t0) / 60
    def check():
        T.Linear.rounded = False; z = embed(S, ids[:HELD]); t = np.asarray(Y[:HELD], np.float32); r = min(700, HELD); i = np.triu_indices(r, 1)
        print(f'step {step} {minutes():.1f} min {seen} tokens {seen / minutes() / 60:.0f} tokens/s; held out: cosine {(z * t).sum(1).mean():.4f}, '
              f'correlation of similarities {np.corrcoef((z[:r] @ z[:r].T)[i], (t[:r] @ t[:r].T)[i])[0, 1]:.4f}', flush=True)
        torch.save(dict(model=S.state_dict(), opt=opt.state_dict(), step=step, spent=minutes() * 60, seen=seen), path + '.part'); os.replace(path + '.part', path)
        torch.save(S.state_dict(), f'{a.work}/student.pt')
    while minutes() < a.minutes:
        order = batches(L[HELD:], np.random.default_rng([a.seed, epoch]), a.batch_tokens); epoch += 1
        for b in order:
            at += 1
            if at <= step: continue                                 # before the checkpoint
            if minutes() >= a.minutes: break
            p = minutes() / a.minutes; T.Linear.rounded = p >= a.int8_from
            for q in opt.param_groups: q['lr'] = a.lr * min(1, (p + 1e-4) / .03) * max(0., 1 - p)
            i = np.sort(b) + HELD; x, mask = T.padded([ids[k] for k in i]); m = mask.float(); t = torch.from_numpy(np.asarray(Y[i], np.float32)); n = len(i)
            y = F.normalize(T.mean_pool(S(x, None if bool(mask.all()) else m)[-1], m), dim=-1)
            w = m.sum(1).sqrt(); loss = 3 * ((y - t).pow(2).sum(-1) * w).sum() / w.sum()
            if n > 2: loss = loss + 2 * (y @ y.T - t @ t.T).pow(2).sum() / n / (n - 1)
            opt.zero_grad(set_to_none=True); loss.backward(); torch.nn.utils.clip_grad_norm_(S.parameters(), 1.); opt.step(); step += 1; seen += int(mask.sum())
            if step % 500 == 0: check()
    check()


# ------------------------------------------------------------------------------------------------------------- export
def export(a):
    import onnx, torch, onnxruntime as ort
    from onnxruntime.quantization import quantize_dynamic, QuantType
    S = T.Student(); S.load_state_dict(torch.load(f'{a.work}/student.pt')); S.eval(); os.makedirs(f'{a.out}/onnx', exist_ok=True)
    fp32, int8, names = f'{a.work}/model.onnx', f'{a.out}/onnx/model_quantized.onnx', ['input_ids', 'attention_mask', 'token_type_ids']
    class Graph(torch.nn.Module):
        def __init__(s): super().__init__(); s.m = S
        def forward(s, input_ids, attention_mask, token_type_ids): return s.m(input_ids, attention_mask, token_type_ids, export=True)
    ids = torch.randint(1000, 20000, (2, 9)); mask = torch.ones_like(ids); mask[1, 6:] = 0
    shape = {0: torch.export.Dim('batch_size', min=1, max=4096), 1: torch.export.Dim('sequence_length', min=2, max=T.POSITIONS)}
    with torch.no_grad():
        torch.onnx.export(Graph().eval(), (ids, mask, torch.zeros_like(ids)), input_names=names, output_names=['last_hidden_state'],
                          dynamic_shapes={k: shape for k in names}, opset_version=18, dynamo=True).save(fp32)
    m = onnx.load(fp32); m.ir_version = 8; onnx.save(m, fp32)
    quantize_dynamic(fp32, int8, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    for f in ('config.json', 'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json'): shutil.copy(f'{a.start}/{f}', f'{a.out}/{f}')
    held = with_ends(pickle.load(open(f'{a.work}/seqs.pkl', 'rb'))[:200]); Y = np.asarray(np.load(f'{a.work}/target.npy', mmap_mode='r')[:200], np.float32); z = embed(S, held)
    o = ort.SessionOptions(); o.intra_op_num_threads = 1; runs = []
    for _ in range(2):
        s = ort.InferenceSession(int8, o); runs.append(unit(np.concatenate([s.run(None, {'input_ids': x[None], 'attention_mask': np.ones((1, len(x)), np.int64),
                                                       'token_type_ids': np.zeros((1, len(x)), np.int64)})[0].mean(1) for x in held])))
    print(f'{os.path.getsize(int8)} bytes; one text at a time, twice: {"the same bit by bit" if (runs[0] == runs[1]).all() else "DIFFERENT"}; '
          f'torch/int8 cosine mean {(z * runs[0]).sum(1).mean():.4f} min {(z * runs[0]).sum(1).min():.4f}; int8/target {(runs[0] * Y).sum(1).mean():.4f}')


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0]); A = p.add_argument
    A('stage', choices=['seqs', 'label', 'target', 'train', 'export']); A('--work', required=True)
    for k in ('corpus', 'start', 'name', 'onnx', 'out', 'init'): A('--' + k)
    A('--pool', default='mean'); A('--prefix', default=''); A('--mix', nargs='+'); A('--offset', type=float, default=0.); A('--tokens', type=float, default=6e6); A('--longest', type=int, default=254)
    A('--minutes', type=float, default=120); A('--threads', type=int, default=2); A('--lr', type=float, default=5e-4); A('--batch-tokens', type=int, default=1024); A('--int8-from', type=float, default=.85); A('--seed', type=int, default=0)
    a = p.parse_args(); os.makedirs(a.work, exist_ok=True)
    if a.stage in ('train', 'export'):
        sys.dont_write_bytecode = True; sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), a.start]; import train as T_; T = T_
    globals()[a.stage](a)
