/* findings_log.c: see findings_log.h. */
#include "findings_log.h"

void log_begin(handmade *h)
{
    *h = (handmade){0};
    hand(
        h,
        "'kind':'session','schema':2,'ferry':'0','program':'p','clock':'%s','seed':0,'devices':[{'name':'cpu','kind':'"
        "cpu',"
        "'card':'c','capacity':17179869184,'model':{'flops_f32':100000000000,'memory_bandwidth':20000000000,"
        "'call_overhead':500,'launch_overhead':500}},{'name':'cuda:0','capacity':1000000,'model':{'call_overhead':3000,"
        "'launch_overhead':4000}},{'name':'cuda:1','capacity':1000000}]",
        "model");
    hand(h, "'kind':'source','path':'p.c','hash':'0','text':'one\\n  "
            "two\\nthree\\nfour\\nfive\\nsix\\nseven\\neight\\nnine'");
}

void log_alloc(handmade *h, int line, int id, const char *device, const char *mem, int bytes)
{
    hand(h, "'kind':'alloc'," AT "'storage':%d,'device':'%s','mem':'%s','addr':'0x%x','asked':%d,'bytes':%d,'tenant':0",
         line, id, device, mem, id * 4096, bytes, bytes);
    hand(h,
         "'kind':'tensor'," AT "'tensor':%d,'name':'t%d','storage':%d,'shape':[%d],'strides':[1],'offset':0,'dtype':"
         "'uint8','device':'%s'",
         line, id, id, id, bytes, device);
}

void log_drop(handmade *h, int line, int id)
{
    hand(h, "'kind':'drop'," AT "'tensor':%d,'why':'free'", line, id);
    hand(h, "'kind':'free'," AT "'storage':%d,'bytes':0", line, id);
}

int logged_launch_id;

void log_copy(handmade *h, int line, int src, const char *from, int dst, const char *to, int bytes, const char *dir,
              const char *more)
{
    hand(h,
         "'kind':'copy'," AT "'id':%d,'src':{'tensor':%d,'storage':%d,'device':'%s','mem':'pageable','version':1},"
         "'dst':{'tensor':%d,'storage':%d,'device':'%s','mem':'device','version':1},'bytes':%d,'dir':'%s',%s,'held':9",
         line, ++logged_launch_id, src, src, from, dst, dst, to, bytes, dir, more);
}

void log_op(handmade *h, int line, const char *device, int stream, int in, int out)
{
    hand(h,
         "'kind':'op'," AT
         "'id':%d,'name':'relu','device':'%s','stream':%d,'in':[{'tensor':%d,'storage':%d,'version':1}],"
         "'out':[{'tensor':%d,'storage':%d,'version':1}],'dtype':'float32','flops':1,'bytes':1,'held':4",
         line, ++logged_launch_id, device, stream, in, in, out, out);
}

void log_complete(handmade *h, int start, int end, const char *engine)
{
    hand(h, "'kind':'complete','id':%d,'start':%d,'end':%d,'engine':'%s','wire':1,'staging':1,'overhead':1",
         logged_launch_id, start, end, engine);
}

void log_host_read(handmade *h, int line, int id)
{
    hand(h, "'kind':'host_read'," AT "'tensor':%d,'storage':%d,'version':1,'first':0,'count':1,'via':'print'", line, id,
         id);
}

void log_data_race(handmade *h, int line, const char *type, int a, int b)
{
    hand(h, "'kind':'data_race'," AT "'type':'%s','storage':1,'first':0,'bytes':64,'a':%d,'b':%d,'fix':'wait for it'",
         line, type, a, b);
}

void log_oom(handmade *h, int line, int asked, int allocated, int reserved, int room, int largest)
{
    hand(h, "'kind':'oom'," AT "'device':'cuda:0','asked':%d,'allocated':%d,'reserved':%d,'free':%d,'largest':%d", line,
         asked, allocated, reserved, room, largest);
}

void log_error(handmade *h, int line, const char *code)
{
    hand(h, "'kind':'error'," AT "'code':'%s','message':'it did not fit','hint':'mend it','written':'fy_relu(x)'", line,
         code);
}

void log_end(handmade *h) { hand(h, "'kind':'end','status':0,'live':[1,2,3,4,5,6,7,8,9]"); }

findings findings_of_log(const handmade *h)
{
    findings f;
    char err[256];
    if (!findings_of_lines(&f, h->text, h->size, err, sizeof err)) fail_msg("%s", err);
    return f;
}

const finding *one_of(const findings *f, const char *rule)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->list[i].rule->name, rule)) return &f->list[i];
    return NULL;
}
