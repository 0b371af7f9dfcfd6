class ModelMeta:
    def __init__(self, fields):
        self.fields = fields

    @classmethod
    def create_empty(cls, overwrites=None):
        return cls(overwrites or {})
